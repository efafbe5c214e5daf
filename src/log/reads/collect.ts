// Collects the events of a read, and ends with an error when the store stops answering.
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { StreamDeletedError, StreamNotFoundError, type StreamingRead } from '@eventstore/db-client'
import type { Session } from '../connection/session.js'
import { NoAnswer } from '../errors.js'

/** Everything that a read of `session` delivers. @throws as `deliver` */
export async function collect<Item> (session: Session, reading: StreamingRead<Item>, ms: number): Promise<Item[]> {
  const items: Item[] = []
  await deliver(session, reading, ms, (item) => { items.push(item) })
  return items
}

/**
 * Hands over what a read delivers, item by item, as it arrives. The client itself would wait for ever.
 * @throws the error of the read, NoAnswer when nothing comes for `ms`, why the session was abandoned, or what `take`
 *   throws, which ends the read
 */
export async function deliver<Item> (
  session: Session, reading: StreamingRead<Item>, ms: number, take: (item: Item) => void
): Promise<void> {
  const stream: Readable = reading
  const end = (error: Error) => {
    reading.destroy(error)
    reading.cancel().catch(() => {}) // the read never began
  }
  const patience = setTimeout(() => end(new NoAnswer(ms)), ms)
  const stay = session.untilAbandoned(end)
  reading.on('data', (item: Item) => {
    if (reading.destroyed) return
    patience.refresh()
    session.heard()
    try {
      take(item)
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)))
    }
  })
  try {
    await finished(stream)
    session.heard()
  } catch (error) {
    if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) session.heard()
    throw error
  } finally {
    clearTimeout(patience)
    stay()
  }
}
