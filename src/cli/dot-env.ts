// `.env` of the working directory: settings that need not be typed each time.
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { readText } from '../text-files.js'

/** `.env` cannot be taken as it is. It is told where, and never what stands there: that may be a secret. */
class BadDotEnv extends Error {
  override readonly name = 'BadDotEnv'
}

/** A line, or several where a value in quotes has line ends: nothing, a comment or NAME=value, as Node.js reads it. */
const entry = new RegExp([
  /[^\S\n]*/, // blanks
  /(?:(?:export[^\S\n]+)?[A-Za-z_][\w.-]*[^\S\n]*=[^\S\n]*(?:"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`#][^\n]*)?[^\S\n]*)?/,
  /(?:#[^\n]*)?(?:\n|$)/
].map(({ source }) => source).join(''), 'y')

/** Adds what `.env` in `folder` sets and `environment` does not, even to nothing. @throws BadDotEnv */
export function addDotEnv (environment: NodeJS.ProcessEnv, folder = process.cwd()): void {
  if (environment.RINGLEDGER_NO_DOTENV === '1') return // of our tests, which run where a developer has a .env
  const file = resolve(folder, '.env')
  const text = contentOf(file)
  if (text === undefined) return
  const line = brokenLine(text)
  if (line !== undefined) throw new BadDotEnv(`${file} is broken at line ${line}: ${mend}`)
  for (const [name, value] of Object.entries(parseEnv(text))) environment[name] ??= value
}

const mend = 'write each setting as NAME=value, each comment after a #, and close each quote'

/** Nothing where there is no such file. */
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
