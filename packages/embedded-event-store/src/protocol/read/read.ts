// Read: streams and $all, both ways, to the end or as a subscription.
import type { Followed } from '../../feed/subscribe.js'
import { cancelled, invalid, toServiceError } from '../errors.js'
import { streams } from '../generated.js'
import { FiniteRead } from './finite-read.js'
import { type ReadCall, Responses } from './responses.js'
import { Subscription } from './subscription.js'

/** Handles one read until it is complete, cancelled, or the server closes. */
export function handleRead (source: Omit<Followed, 'aborted'>, call: ReadCall, closing: AbortSignal): void {
  const gone = new AbortController()
  const stop = () => { gone.abort() }
  call.once('cancelled', stop)
  call.once('close', stop)
  closing.addEventListener('abort', stop, { once: true })
  void read({ ...source, aborted: gone.signal }, call)
    .then(() => { if (closing.aborted) throw cancelled() })
    // A call that is gone ignores both.
    .then(() => { call.end() }, (error: unknown) => { call.emit('error', toServiceError(error)) })
    .finally(() => { closing.removeEventListener('abort', stop) })
}

async function read (source: Followed, call: ReadCall): Promise<void> {
  const options = call.request.getOptions() ?? new streams.ReadReq.Options()
  const responses = new Responses(source.log, call, source.aborted)
  const [stream, all] = [options.getStream(), options.getAll()]
  const isSubscription = options.hasSubscription()
  if (isSubscription && options.getReadDirection() !== 0) throw invalid('A subscription goes forward')
  const reading = isSubscription
    ? new Subscription(source, options, responses)
    : new FiniteRead(source.log, options, responses)
  if (stream !== undefined) return await reading.ofStream(stream)
  if (all !== undefined) return await reading.ofAll(all)
  throw invalid('A read names a stream or $all')
}
