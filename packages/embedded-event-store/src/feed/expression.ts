// Regular expressions of filters, in the syntax of EventStoreDB's .NET engine, on an engine whose time is linear.
import { RE2JS } from 're2js'
import { weightOf } from './expression-weight.js'

/** A filter that cannot be. The message names the part that is refused. */
export class InvalidFilter extends Error {}

/** In characters. A list that is longer is better said by prefixes. */
const longest = 16_384

/** A name of 2,000 characters is then tried within a tenth of a second, whatever both are. */
const heaviest = 16_384

/**
 * Whether an expression is found anywhere in a name. What RE2 would read in another way than .NET is translated, or
 * refused where RE2 cannot say it.
 * @throws InvalidFilter
 */
export function searchFor (expression: string): (name: string) => boolean {
  if (expression.length > longest) {
    throw new InvalidFilter(`The regular expression of a filter has at most ${longest} characters`)
  }
  if (weightOf(expression) > heaviest) {
    throw new InvalidFilter('The regular expression of a filter repeats too much, or has too many classes: use prefixes')
  }
  const compiled = compile(translated(expression), expression)
  return (name) => compiled.test(name)
}

function compile (translation: string, expression: string): RE2JS {
  try {
    return RE2JS.compile(translation)
  } catch (error) {
    throw new InvalidFilter(`The filter is not a regular expression: ${expression}`, { cause: error })
  }
}

/** Those of .NET know all of Unicode, those of RE2 ASCII alone. As they stand inside of brackets. */
const classes: Readonly<Record<string, string>> = {
  d: '\\p{Nd}', w: '\\p{L}\\p{Mn}\\p{Nd}\\p{Pc}', s: '\\f\\n\\r\\t\\v\\x{85}\\p{Z}'
}

const characters: Readonly<Record<string, string>> = {
  a: '\\x07', e: '\\x1b', f: '\\f', n: '\\n', r: '\\r', t: '\\t', v: '\\v'
}

/** The end of a name, or the line feed that ends it. */
const end = '(?:\\n?\\z)'

const anchors: Readonly<Record<string, string>> = { A: '\\A', z: '\\z', Z: end }

/** An escape, the beginning of a group, a bracket that opens a class with what is special there, or one character. */
const part = /\\(?:[pP]\{[^}]*\}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^])|\(\?(?:[is]*[:)]|<[A-Za-z]\w*>)?|\[\^?\]?|[^]/gu

function translated (expression: string): string {
  let isInClass = false
  return expression.replace(part, (text, at: number) => {
    if (text.startsWith('\\')) return escapeOf(text, isInClass)
    if (isInClass) {
      if (text.startsWith('[') && expression[at - 1] === '-') return refuse(text, 'a class that subtracts another')
      isInClass = !text.endsWith(']')
      return text.replace('[', '\\[')
    }
    if (text.startsWith('[')) {
      isInClass = true
      return text.replace(']', '\\]')
    }
    if (text === '(?') return refuse(text, 'look-around, atomic groups, comments, and flags other than i and s')
    return text === '$' ? end : text
  })
}

function escapeOf (text: string, isInClass: boolean): string {
  const name = text.slice(1, 2)
  const own = classes[name.toLowerCase()]
  if (own !== undefined && name === name.toLowerCase()) return isInClass ? own : `[${own}]`
  if (own !== undefined && !isInClass) return `[^${own}]`
  if (/^\\[pP]\{[A-Z][a-z]?\}$/.test(text)) return text
  if (/^\\[xu]./.test(text)) return `\\x{${text.slice(2)}}`
  const plain = characters[name] ?? (isInClass ? undefined : anchors[name])
  if (plain !== undefined) return plain
  return /\w/.test(name) ? refuse(text, 'this escape') : text // a sign that stands for itself
}

function refuse (text: string, what: string): never {
  throw new InvalidFilter(`The regular expression of a filter is taken without ${what}: ${text}`)
}
