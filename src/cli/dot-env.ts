// Reads `.env` of the working directory.
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { readText } from '../text-files.js'

/** `.env` is malformed. The message has the line number but no content, which may be a secret. */
class BadDotEnv extends Error {
  override readonly name = 'BadDotEnv'
}

/** One entry as Node.js reads it: nothing, a comment or NAME=value; a quoted value may span lines. */
const entry = new RegExp([
  /[^\S\n]*/, // blanks
  /(?:(?:export[^\S\n]+)?[A-Za-z_][\w.-]*[^\S\n]*=[^\S\n]*(?:"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`#][^\n]*)?[^\S\n]*)?/,
  /(?:#[^\n]*)?(?:\n|$)/
].map(({ source }) => source).join(''), 'y')

/** Adds settings of `.env` in `folder` that `environment` lacks; an empty one counts as set. @throws BadDotEnv */
export function addDotEnv (environment: NodeJS.ProcessEnv, folder = process.cwd()): void {
  if (environment.RINGLEDGER_NO_DOTENV === '1') return // set by our tests, as a developer may have a .env
  const file = resolve(folder, '.env')
  const text = contentOf(file)
  if (text === undefined) return
  const line = brokenLine(text)
  if (line !== undefined) throw new BadDotEnv(`${file} is broken at line ${line}: ${mend}`)
  for (const [name, value] of Object.entries(parseEnv(text))) environment[name] ??= value
}

const mend = 'write each setting as NAME=value, each comment after a #, and close each quote'

/** Undefined when the file does not exist. */
function contentOf (file: string): string | undefined {
  try {
    return readText(file).replaceAll('\r\n', '\n')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new BadDotEnv(`${file} cannot be read: ${message}. Make it readable, or remove it.`, { cause: error })
  }
}

function brokenLine (text: string): number | undefined {
  if (text.includes('\0')) return text.slice(0, text.indexOf('\0')).split('\n').length
  for (entry.lastIndex = 0; entry.lastIndex < text.length;) {
    const from = entry.lastIndex
    if (!entry.test(text)) return text.slice(0, from).split('\n').length
  }
  return undefined
}
