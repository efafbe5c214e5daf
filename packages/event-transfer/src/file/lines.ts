// The lines of an export, each with its place; a file that is no export is refused.
import { parseLine, version, versionOf, type Line } from './event-line.js'
import type { Recorded } from '../recorded.js'
import { TransferRefused } from '../refused.js'
import { textLines, type Decoder } from './text-lines.js'

export type PlacedLine = Exclude<Line, { kind: 'event' }> | { kind: 'event', event: Recorded }

/** What stands after the header and after `skip` events; ends early where the file does. */
export async function * linesOf (file: string, decoder?: Decoder, skip = 0n): AsyncGenerator<PlacedLine, void> {
  let number = 0n // the header is line 0
  let isHeader = true
  for await (const text of textLines(file, decoder)) {
    if (isHeader) {
      refuseOtherThan(file, versionOf(text))
      isHeader = false
      continue
    }
    if (++number <= skip) continue
    yield lineAt(file, number, text)
  }
  if (isHeader) refuseOtherThan(file, undefined)
}

function refuseOtherThan (file: string, found: number | undefined): void {
  if (found === undefined) {
    throw new TransferRefused(`${file} is not a Ringledger export: write one with \`ringledger events export\``)
  }
  if (found !== version) {
    throw new TransferRefused(`${file} has version ${found} of the format, and version ${version} is read here: ` +
      'use the Ringledger that wrote it')
  }
}

function lineAt (file: string, number: bigint, text: string): PlacedLine {
  try {
    const line = parseLine(text)
    return line.kind === 'event' ? { kind: 'event', event: { ...line.event, position: number } } : line
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TransferRefused(`line ${number + 1n} of ${file} is no event: ${reason}`, { cause })
  }
}
