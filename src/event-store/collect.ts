// Collects the events of a read, and ends with an error when the store stops answering.
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { StreamingRead } from '@eventstore/db-client'

/**
 * Everything that a read delivers. The client itself would wait for ever.
 * @throws the error of the read, or an error when nothing comes for `ms`
 */
export async function collect<Item> (reading: StreamingRead<Item>, ms: number): Promise<Item[]> {
  const stream: Readable = reading
  const items: Item[] = []
  const patience = setTimeout(() => {
    reading.destroy(new Error(`no answer within ${ms} ms`))
    reading.cancel().catch(() => {}) // the read never began
  }, ms)
  reading.on('data', (item: Item) => {
    items.push(item)
    patience.refresh()
  })
  try {
    await finished(stream)
    return items
  } finally {
    clearTimeout(patience)
  }
}
