// An export as a source: checked from its first to its last line before anything is taken from it.
import { withoutHidden, type Source } from '../compare.js'
import type { Footer } from './event-line.js'
import { linesOf } from './lines.js'
import type { Decoder } from './text-lines.js'
import { Tally } from '../fingerprint.js'
import type { Progress } from '../progress.js'
import type { Recorded } from '../recorded.js'
import { TransferRefused } from '../refused.js'

export interface ImportOptions {
  /** Take the whole lines of a file that lacks its end. */
  allowTruncated: boolean
  /** Takes the bytes of the file as they come. By default they are UTF-8. @throws Error with a message for people */
  decoder?: Decoder
  signal: AbortSignal
  onProgress (progress: Progress): void
}

/**
 * Reads the whole file once to check it, and again when it is read as a source. Its positions are numbers of lines.
 * @throws TransferRefused when it is no export, of another version, truncated or changed
 */
export async function openExport (file: string, options: ImportOptions): Promise<Source> {
  const { allowTruncated, decoder, signal, onProgress } = options
  const tally = new Tally()
  let footer: Footer | undefined
  for await (const line of linesOf(file, decoder)) {
    signal.throwIfAborted()
    if (footer) throw new TransferRefused(`${file} goes on after its last line: it was changed since it was written`)
    if (line.kind === 'end') footer = line.footer
    else {
      tally.add(line.event)
      onProgress({ doing: 'checking', events: tally.events })
    }
  }
  if (!footer && !allowTruncated) throw lacksItsEnd(file, tally)
  if (footer && (footer.events !== tally.events || footer.sha256 !== tally.sha256())) throw changed(file, footer, tally)
  return await withoutHidden(sourceOf(file, BigInt(tally.events), decoder))
}

function lacksItsEnd (file: string, { events }: Tally): TransferRefused {
  return new TransferRefused(`${file} has no last line: it is not whole, its first ${events} events are. ` +
    'Export again, or take these with --allow-truncated')
}

function changed (file: string, footer: Footer, tally: Tally): TransferRefused {
  const told = `${footer.events} events with SHA-256 ${footer.sha256}`
  return new TransferRefused(`${file} was changed since it was written: its last line tells of ${told}, ` +
    `the file has ${tally.events} with ${tally.sha256()}`)
}

function sourceOf (file: string, head: bigint, decoder?: Decoder): Source {
  let begins: Map<string, bigint> | undefined
  return { head, read, knows }

  async function * read (after: bigint): AsyncGenerator<Recorded, void> {
    for await (const line of linesOf(file, decoder, after)) {
      if (line.kind === 'event' && line.event.position <= head) yield line.event
    }
  }

  async function knows ({ stream, revision }: Recorded) {
    begins ??= await beginsIn(read(0n))
    const first = begins.get(stream)
    if (first === undefined) return 'stream unknown'
    return revision < first ? 'gone' : 'other'
  }
}

/** Each stream with its first revision. */
async function beginsIn (events: AsyncIterable<Recorded>): Promise<Map<string, bigint>> {
  const begins = new Map<string, bigint>()
  for await (const { stream, revision } of events) if (!begins.has(stream)) begins.set(stream, revision)
  return begins
}
