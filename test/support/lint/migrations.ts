// What a migration must not do while the release before still runs: each statement, with what is wrong about it.

/** A comment before or in a statement that lets it pass: it says why the former release does not mind. */
const excuse = /^-- safe: .{20,}/m

const quoted = /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$[^]*?\$\1\$|;/g

const rules: Array<[RegExp, string]> = [
  [/\bDROP\s+(?!NOT\s+NULL\b|DEFAULT\b)/i, 'drops what the former release may use'],
  [/\bRENAME\s+(?:TO|COLUMN|CONSTRAINT|\w+\s+TO)\b/i, 'renames what the former release may use'],
  [/\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i, 'changes a type: the table is written anew, and locked meanwhile'],
  [/\bSET\s+NOT\s+NULL\b/i, 'refuses nulls that the former release may write'],
  [/\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\b/i, 'refuses rows that the former release may write'],
  [/\bTRUNCATE\b/i, 'removes what the former release may use']
]

/** @returns what is refused, in words; nothing when the former release can go on beside it */
export function migrationProblems (sql: string): string[] {
  const statements = statementsOf(sql)
  const made = new Set(statements.flatMap(({ code }) => [...code.matchAll(/\bCREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)/gi)]
    .map(([, table = '']) => table.toLowerCase())))
  return statements.filter(({ whole }) => !excuse.test(whole)).flatMap(({ code }) =>
    problemsOf(code, made).map((problem) => `${code.trim().replace(/\s+/g, ' ').slice(0, 80)}: ${problem}`))
}

/** @param made tables of the same migration: nobody else knows them yet */
function problemsOf (code: string, made: ReadonlySet<string>): string[] {
  const [, altered = ''] = /\bALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?([\w.]+)/i.exec(code) ?? []
  if (made.has(altered.toLowerCase())) return []
  const found = rules.filter(([pattern]) => pattern.test(code)).map(([, problem]) => problem)
  const [, unique, concurrently, on = ''] =
    /\bCREATE\s+(UNIQUE\s+)?INDEX\s+(CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?[\w.]*\s*ON\s+(?:ONLY\s+)?([\w.]+)/i.exec(code) ?? []
  if (on !== '' && !made.has(on.toLowerCase())) {
    if (unique) found.push('refuses rows that the former release may write')
    if (!concurrently) found.push('builds an index while nobody can write to the table')
  }
  const added = [...code.matchAll(/\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(?!CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\w+\s+([^]*?)(?=,\s*(?:ADD|ALTER|DROP)\b|$)/gi)]
  for (const [, column = ''] of added) {
    if (/\bNOT\s+NULL\b/i.test(column) && !/\b(?:DEFAULT|GENERATED)\b/i.test(column)) {
      found.push('a new column without a default: what the former release inserts is refused')
    }
  }
  return found
}

/** Each with its comments and the texts of its functions (`whole`), and without comments and literals (`code`). */
function statementsOf (sql: string): Array<{ whole: string, code: string }> {
  const statements = []
  let [from, whole, code] = [0, '', '']
  const take = (until: number) => {
    const plain = sql.slice(from, until);
    [whole, code] = [whole + plain, code + plain]
  }
  for (const { 0: part, index } of sql.matchAll(quoted)) {
    take(index)
    from = index + part.length
    if (part === ';') {
      statements.push({ whole, code });
      [whole, code] = ['', '']
    } else {
      whole += part
      if (part.startsWith('$')) code += part.replace(/--[^\n]*|'(?:[^']|'')*'/g, ' ') // its statements run as well
    }
  }
  take(sql.length)
  return [...statements, { whole, code }].filter(({ code: each }) => each.trim() !== '')
}
