// What a drill has found, as text, and what of it must not be.
import type { Book } from './book.js'

export interface Accounts {
  /** Commands, by name. */
  log: { found: number, missing: string[], doubled: string[], unaccounted: string[] }
  reads: { asked: number, wrong: string[] }
  /** Calls, by id. `repeated` is the same webhook again, which a receiver drops by its id. */
  webhooks: {
    calls: number, received: number, missing: string[], doubled: string[], unaccounted: string[], repeated: number
  }
  /** Commands of the product, and what was wrong. */
  checks: { command: string, problem: string | undefined }[]
}

export interface Drilled extends Accounts {
  minutes: number
  commands: { sent: number, tries: number, acknowledged: number, refused: string[], unanswered: string[] }
  /** Between two acknowledgements, in seconds. */
  longestGap: number
}

/** Of one kind in the text; the report has all. */
const mostTold = 5

export function commandsOf ({ sent, tries, acknowledged, refused, unanswered }: Book): Drilled['commands'] {
  return { sent, tries, acknowledged: acknowledged.size, refused, unanswered }
}

/** Each thing that does not hold, in words. */
export function problemsOf ({ commands, log, reads, webhooks, checks }: Drilled): string[] {
  return [
    ...each('commands were refused', commands.refused),
    ...each('commands were never acknowledged', commands.unanswered),
    ...each('acknowledged commands are not in the log', log.missing),
    ...each('commands are in the log twice', log.doubled),
    ...each('events are in the log that nobody was told of', log.unaccounted),
    ...each('reads do not answer what was acknowledged', reads.wrong),
    ...each('calls have no webhook', webhooks.missing),
    ...each('calls have more than one webhook', webhooks.doubled),
    ...each('webhooks came for calls that nobody was told of', webhooks.unaccounted),
    ...checks.flatMap(({ command, problem }) => problem === undefined ? [] : `ringledger ${command}: ${problem.trim()}`)
  ]
}

function each (what: string, found: readonly string[]): string[] {
  if (found.length === 0) return []
  const more = found.length > mostTold ? ', ...' : ''
  return [`${found.length} ${what}: ${found.slice(0, mostTold).join(', ')}${more}`]
}

export function asText (drilled: Drilled, problems: readonly string[]): string {
  const { minutes, commands, longestGap, log, reads, webhooks, checks } = drilled
  return [
    `${minutes} minutes of load, and a pause in which it went on`,
    `commands: ${commands.sent} sent in ${commands.tries} tries, ${commands.acknowledged} acknowledged`,
    `the longest time without an acknowledgement: ${longestGap.toFixed(1)} s`,
    `log: ${log.found} commands found, ${log.missing.length} lost, ${log.doubled.length} doubled`,
    `reads: ${reads.asked} asked, ${reads.wrong.length} wrong`,
    `webhooks: ${webhooks.received} for ${webhooks.calls} calls, ${webhooks.repeated} sent again`,
    ...checks.map(({ command, problem }) => `ringledger ${command}: ${problem === undefined ? 'holds' : 'does not hold'}`),
    problems.length === 0 ? 'It holds.' : `It does not hold:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    ''
  ].join('\n')
}
