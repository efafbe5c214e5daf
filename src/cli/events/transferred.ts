// What the commands that transfer events have in common.
import type { Transferred } from '@ringledger/event-transfer'
import { printJson } from '../output.js'

export const runAgain = 'stopped before its end: run the same command again'

/** Prints what the target has now; `more` is for programs only. */
export function printTransferred (transferred: Transferred, json?: boolean, more: object = {}): void {
  const { events, streams, sha256, appended, others, position } = transferred
  const positions = { source: String(position.source), target: String(position.target) }
  if (json) return printJson({ events, streams, sha256, appended, others, position: positions, ...more })
  process.stdout.write([
    `Appended ${appended} events; the target has all ${events} events of ${streams} streams now.`,
    'Read back and compared: order, stream, revision, id, type, data and metadata of each are the same.',
    `SHA-256 ${sha256}`,
    `The last one stands at position ${positions.source} of the source and ${positions.target} of the target.`,
    ...(others > 0 ? [leftAlone(others)] : []),
    ''
  ].join('\n'))
}

const leftAlone = (others: number) =>
  `The target has ${others} further events in streams that the source does not know; they were left alone.`
