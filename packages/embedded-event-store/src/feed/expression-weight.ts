// What a regular expression costs, before it is compiled: it is compiled and tried on the one thread that serves all.

/** Of a class: those of letters have hundreds of ranges, which are looked through for each character of a name. */
const classWeight = 160
/** Of what is repeated, at least, each time: a name may keep all of them in play at once. */
const repeatedWeight = 8

const repeat = /\{(?<least>\d+)(?:,(?<most>\d*))?\}/
const klass = /\[\^?\]?(?:\\[^]|[^\\\]])*\]|\\[wWdDsS]|\\[pP]\{[^}]*\}/
const token = new RegExp(`(?<repeat>${repeat.source})|(?<klass>${klass.source})|(?<open>\\()|(?<close>\\))|\\\\?[^]`, 'gu')

/** About how many states it has: 1 for a character as it stands, and each as often as it is repeated. */
export function weightOf (expression: string): number {
  const open = [0]
  let last = 0
  const add = (weight: number) => {
    last = weight
    open.push((open.pop() ?? 0) + weight)
  }
  for (const { groups = {} } of expression.matchAll(token)) {
    if (groups.open !== undefined) open.push(0)
    else if (groups.close !== undefined) add(open.length > 1 ? open.pop() ?? 0 : 0)
    else if (groups.repeat !== undefined) {
      const times = Math.max(Number(groups.least), Number(groups.most ?? 0))
      add(Math.max(last, repeatedWeight) * times)
    } else add(groups.klass === undefined ? 1 : classWeight)
  }
  return open.reduce((sum, weight) => sum + weight, 0)
}
