// A span for each append, where tracing is on; its events carry it.
import { tracing } from './tracing.js'

interface Traceable { traceparent?: string | undefined }

/** Appends as `append` does, with the sender that the events are to name. */
export async function tracedAppend<Sender extends Traceable, Appended> (
  stream: string, events: readonly { type: string }[], sender: Sender, append: (sender: Sender) => Promise<Appended>
): Promise<Appended> {
  if (!tracing.tracer) return await append(sender)
  const kind = stream.slice(0, stream.indexOf('-')) // the rest may be an id that a call engine has made up
  const attributes = { 'ringledger.stream': kind, 'ringledger.events': events.map(({ type }) => type).join(' ') }
  const span = tracing.tracer.start(`append ${kind}`, { kind: 'producer', parent: sender.traceparent, attributes })
  try {
    const appended = await append({ ...sender, traceparent: span.traceparent })
    span.end()
    return appended
  } catch (error) {
    span.end(error)
    throw error
  }
}
