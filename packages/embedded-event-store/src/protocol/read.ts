// Reads streams and $all in both directions, to the end or as a subscription.
import { randomUUID } from 'node:crypto'
import { isHidden, requestedFilter } from '../filter.js'
import type { RecordedEvent } from '../log/event.js'
import { firstVisible, isFresh } from '../log/stream-state.js'
import { type Followed, type Step, subscribeToAll, subscribeToStream } from '../subscribe.js'
import { cancelled, invalid, streamDeleted, toServiceError, unforeseen } from './errors.js'
import { streams } from './generated.js'
import { streamName, toNumber } from './requests.js'
import { type ReadCall, Responses } from './responses.js'

const { ReadResp, ReadReq: { Options } } = streams
type StreamOptions = streams.ReadReq.Options.StreamOptions
type AllOptions = streams.ReadReq.Options.AllOptions

interface Reading extends Followed { options: streams.ReadReq.Options, responses: Responses }

export function handleRead (source: Omit<Followed, 'aborted'>, call: ReadCall, closing: AbortSignal): void {
  const gone = new AbortController()
  const stop = () => { gone.abort() }
  call.once('cancelled', stop)
  call.once('close', stop)
  closing.addEventListener('abort', stop, { once: true })
  const options = call.request.getOptions() ?? new Options()
  const responses = new Responses(source.log, call, gone.signal)
  void read({ ...source, aborted: gone.signal, options, responses })
    .then(() => { if (closing.aborted) throw cancelled() })
    // A cancelled call ignores both.
    .then(() => { call.end() }, (error: unknown) => { call.emit('error', toServiceError(error)) })
    .finally(() => { closing.removeEventListener('abort', stop) })
}

async function read (reading: Reading): Promise<void> {
  const { options } = reading
  const [stream, all, isSubscription] = [options.getStream(), options.getAll(), options.hasSubscription()]
  if (isSubscription && options.getReadDirection() !== 0) throw invalid('A subscription goes forward')
  if (stream !== undefined) return await (isSubscription ? followStream : readStream)(reading, stream)
  if (all !== undefined) return await (isSubscription ? followAll : readAll)(reading, all)
  throw invalid('A read names a stream or $all')
}

async function readStream ({ log, options, responses }: Reading, asked: StreamOptions): Promise<void> {
  const stream = streamName(asked.getStreamIdentifier()?.getStreamName_asU8())
  const { isForward, direction, count } = extentOf(options, asked)
  const state = await log.reader.stream(stream)
  const { head } = log.writer // read after the state, so that everything in the state is within `head`
  if (state.isTombstoned) throw streamDeleted(stream)
  if (state.isMissing) {
    const missing = new ReadResp.StreamNotFound().setStreamIdentifier(asked.getStreamIdentifier())
    return await responses.send(new ReadResp().setStreamNotFound(missing))
  }
  const first = firstVisible(state)
  const revision = asked.hasRevision() ? toNumber(asked.getRevision()) : undefined
  const from = isForward ? Math.max(first, revision ?? 0) : first
  const to = isForward ? state.last : Math.min(state.last, revision ?? (asked.hasStart() ? 0 : state.last))
  const pages = log.reader.streamPages(stream, { direction, from, to }, head, count)
  await sendPages(responses, pages, count, (event) => isFresh(state, event))
}

async function readAll ({ log, options, responses }: Reading, asked: AllOptions): Promise<void> {
  const { isForward, direction, count } = extentOf(options, asked)
  const position = asked.hasPosition() ? positionOf(asked) : undefined
  const { head } = log.writer
  if (position !== undefined && position > head) throw noSuchPosition()
  const filter = requestedFilter(options)
  const from = isForward ? position ?? 1 : 1
  const to = isForward ? head : asked.hasStart() ? 0 : (position ?? head + 1) - 1
  const pages = log.reader.allPages({ direction, from, to }, count)
  await sendPages(responses, pages, count, (event) => !isHidden(event) && (filter?.matches(event) ?? true))
}

function extentOf (options: streams.ReadReq.Options, asked: { hasEnd (): boolean }) {
  const isForward = options.getReadDirection() === 0
  const count = toNumber(options.getCount())
  if (count === 0) throw unforeseen('A read asks for one event at least')
  if (isForward && asked.hasEnd()) throw unforeseen('Nothing is read forwards from the end')
  return { isForward, direction: isForward ? 'forward' as const : 'backward' as const, count }
}

/** @throws Refusal for an impossible position: commit and prepare are equal for every event */
function positionOf (asked: AllOptions): number {
  const commit = asked.getPosition()?.getCommitPosition() ?? '0'
  if (asked.getPosition()?.getPreparePosition() !== commit) throw noSuchPosition()
  return toNumber(commit)
}

const noSuchPosition = () => unforeseen('Unexpected ReadAllResult: InvalidPosition')

async function sendPages (
  responses: Responses, pages: AsyncGenerator<RecordedEvent[]>, count: number,
  isWanted: (event: RecordedEvent) => boolean
): Promise<void> {
  let left = count
  for await (const page of pages) {
    const wanted = page.filter(isWanted).slice(0, left)
    await responses.events(wanted)
    left -= wanted.length
    if (left <= 0 || responses.areOver) return
  }
}

/** 2^64 - 1 as a revision or position. */
const theEnd = '18446744073709551615'

async function followStream (reading: Reading, asked: StreamOptions): Promise<void> {
  const stream = streamName(asked.getStreamIdentifier()?.getStreamName_asU8())
  const state = await reading.log.reader.stream(stream)
  if (state.isTombstoned) throw streamDeleted(stream)
  const revision = asked.hasRevision() ? asked.getRevision() : '-1'
  // Sends everything that is appended after the confirmation.
  const after = asked.hasEnd() || revision === theEnd ? state.last : toNumber(revision)
  await sendSteps(reading.responses, subscribeToStream(reading, stream, after), stream)
}

async function followAll (reading: Reading, asked: AllOptions): Promise<void> {
  const position = asked.getPosition()?.getCommitPosition() ?? '0'
  const after = asked.hasEnd() || position === theEnd ? reading.log.writer.head : toNumber(position)
  const filter = requestedFilter(reading.options)
  await sendSteps(reading.responses, subscribeToAll(reading, after, filter), '$all')
}

async function sendSteps (responses: Responses, steps: AsyncGenerator<Step>, stream: string): Promise<void> {
  const confirmation = new ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID())
  await responses.send(new ReadResp().setConfirmation(confirmation))
  for await (const step of steps) {
    switch (step.kind) {
      case 'events': await responses.events(step.events); break
      case 'checkpoint': {
        const at = String(step.position)
        const checkpoint = new ReadResp.Checkpoint().setCommitPosition(at).setPreparePosition(at)
        await responses.send(new ReadResp().setCheckpoint(checkpoint))
        break
      }
      case 'caught-up': await responses.send(new ReadResp().setCaughtUp(new ReadResp.CaughtUp())); break
      case 'stream-deleted': throw streamDeleted(stream)
    }
    if (responses.areOver) return
  }
}
