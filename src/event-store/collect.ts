// Collects the events of a read, and ends with an error when the store stops answering.
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { StreamingRead } from '@eventstore/db-client'

/** Everything that a read delivers. @throws as `deliver` */
export async function collect<Item> (reading: StreamingRead<Item>, ms: number): Promise<Item[]> {
  const items: Item[] = []
  await deliver(reading, ms, (item) => { items.push(item) })
  return items
}

/**
 * Hands over what a read delivers, item by item, as it arrives. The client itself would wait for ever.
 * @throws the error of the read, an error when nothing comes for `ms`, or what `take` throws, which ends the read
 */
export async function deliver<Item> (
  reading: StreamingRead<Item>, ms: number, take: (item: Item) => void
): Promise<void> {
  const stream: Readable = reading
  const end = (error: Error) => {
    reading.destroy(error)
    reading.cancel().catch(() => {}) // the read never began
  }
  const patience = setTimeout(() => {
    end(new Error(`no answer within ${ms} ms`))
  }, ms)
  reading.on('data', (item: Item) => {
    if (reading.destroyed) return
    patience.refresh()
    try {
      take(item)
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)))
    }
  })
  try {
    await finished(stream)
  } finally {
    clearTimeout(patience)
  }
}
