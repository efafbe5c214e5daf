// Writes assistants to a log, one after the other: most of them sound, a few refused by us or by Postgres.
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Streams } from '../../../src/event-store/streams.js'
import { appender } from '../events/appender.js'
import { assistantCreated, assistantUpdated } from '../events/call-events.js'

/** So that the log stays small while processes start. */
const writeEveryMs = 30

/** By turns so many with refused ones among them and so many without: on a slow machine batches are large. */
const phase = 40

export function assistantWriter (streams: Streams) {
  const append = appender(streams)
  let assistantIds = 0

  /** An assistant and an update of it. */
  async function something (): Promise<bigint> {
    const id = ++assistantIds
    await append(assistantCreated(id))
    const mayRefuse = Math.floor(id / phase) % 2 === 0
    if (mayRefuse && id % 7 === 0) await append({ stream: `assistant-${id}`, type: 'AssistantUpdated', data: { nonsense: true } })
    if (mayRefuse && id % 5 === 0) return await append(assistantUpdated(id, { assistant_name: 'refused' }))
    return await append(assistantUpdated(id, { assistant_name: `Name ${id}` }))
  }

  async function writeUntil (stopping: AbortSignal): Promise<bigint> {
    let last = 0n
    for (; !stopping.aborted; await delay(writeEveryMs)) last = await something()
    return last
  }

  /** Writes until it is stopped, which answers the last position. */
  function writing (t: Test): () => Promise<bigint> {
    const stopping = new AbortController()
    const writes = writeUntil(stopping.signal)
    const stop = () => {
      stopping.abort()
      return writes
    }
    t.teardown(stop)
    return stop
  }

  return { something, writing }
}
