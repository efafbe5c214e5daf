// Reads docs/adding.md as a developer does: the sentence before a block of code says where its lines go.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { marked, type Token } from 'marked'
import { packageRoot } from '../../../src/package-root.js'

interface Place { file: string, how: string, line?: string | undefined }
export type Step = Place & { text: string } | { commands: string }

interface Recipe { title: string, steps: Step[] }

/** A file that is new, linked or named; or a place in the file that was named before. */
const said = /new file `([^`]+)`|\]\(([^)#]+\.tsx?)\)|`((?:src|test|projections|workers)\/[^`]+\.ts)`|(after|before|instead of)\s+`([^`]+)`|(at the end)/g

function recipesIn (page: string): Recipe[] {
  const [, ...chapters] = page.split(/^## /m)
  return chapters.map((chapter) => {
    const places: Place[] = []
    const steps: Step[] = []
    let file = ''
    for (const token of leavesOf(marked.lexer(chapter))) {
      if (token.type !== 'code') read(token.raw)
      else if (token.lang === undefined || token.lang === 'sh') steps.push({ commands: token.text })
      else steps.push({ ...places.shift() ?? missing(token.text), text: token.text })
    }
    if (places.length > 0) throw new Error(`nothing goes to ${JSON.stringify(places)}`)
    return { title: chapter.slice(0, chapter.indexOf('\n')), steps }

    function read (words: string): void {
      for (const [, made, link, named, how, line, end] of words.matchAll(said)) {
        file = made ?? named ?? (link === undefined ? file : join('docs', link))
        if (made !== undefined) places.push({ file, how: 'new' })
        else if (how !== undefined || end !== undefined) places.push({ file, how: how ?? 'at the end', line })
      }
    }
  })
}

/** Paragraphs and blocks of code in order, even those inside lists. */
const leavesOf = (tokens: Token[]): Token[] => tokens.flatMap((token) => token.type === 'list'
  ? token.items.flatMap((item: { tokens: Token[] }) => leavesOf(item.tokens))
  : [token])

function missing (text: string): never {
  throw new Error(`no sentence says where this goes:\n${text}`)
}

/** Carries out the step in the folder, a copy of the repository. */
export function follow ({ file, how, line = '', text }: Place & { text: string }, folder: string): void {
  const path = join(folder, file)
  if (how === 'new') {
    mkdirSync(dirname(path), { recursive: true })
    return writeFileSync(path, `${text}\n`, { flag: 'wx' })
  }
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const own = text.replace(/^(import .*\n+)+/, '').replace(/\n+$/, '\n').split('\n')
  const at = how === 'at the end' ? lines.length : lines.findIndex((one) => one.includes(line))
  const isOne = how === 'at the end' || at === lines.findLastIndex((one) => one.includes(line))
  if (at < 0 || !isOne) throw new Error(`${file} has not exactly one line with ${line}`)
  lines.splice(how === 'after' ? at + 1 : at, how === 'instead of' ? 1 : 0, ...how === 'at the end' ? [''] : [], ...own)
  const whole = [...text.matchAll(/^import \{ (.+) \} from '(.+)'$/gm)]
    .reduce((source, [, names = '', from = '']) => withImport(source, names, from), lines.join('\n'))
  writeFileSync(path, `${whole}\n`)
}

/** Merges the names into the import of the same module, if there is one. */
function withImport (source: string, names: string, from: string): string {
  const present = new RegExp(`^import \\{([^}]*)\\} from '${from.replaceAll('.', '[.]')}'$`, 'm')
  const own = present.exec(source)?.[1]?.trim()
  if (own === undefined) return source.replace(/^import /m, `import { ${names} } from '${from}'\nimport `)
  const all = `${own}, ${names}`.split(/,\s*/)
  const line = `import { ${all.join(', ')} } from '${from}'`
  if (line.length <= 120) return source.replace(present, line)
  const half = Math.ceil(all.length / 2)
  const halves = [all.slice(0, half), all.slice(half)].map((part) => `  ${part.join(', ')}`)
  return source.replace(present, `import {\n${halves.join(',\n')}\n} from '${from}'`)
}

export const recipes = () => recipesIn(readFileSync(join(packageRoot, 'docs/adding.md'), 'utf8'))
