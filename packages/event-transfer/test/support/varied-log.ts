// A log with everything in it that a transfer must keep: odd bytes, deletions, truncation, links, unicode.
import { randomUUID } from 'node:crypto'
import { ANY, NO_STREAM, binaryEvent, jsonEvent, type EventStoreDBClient } from '@eventstore/db-client'
import { type Recorded, mayBeServerMade } from '../../src/recorded.js'
import type { Store } from '../../src/store.js'
import { logOf } from '../../src/source.js'

export function event (type = 'Happened', data: object = {}) {
  return jsonEvent({ type, data: { ...data }, metadata: { command_id: 'c-1' } })
}

type Bytes = string | Uint8Array

/** An event whose bytes no JSON.stringify would write. */
export function rawEvent (stream: string, revision: bigint, data: Bytes, metadata: Bytes = ''): Recorded {
  const contents = { data: Buffer.from(data), metadata: Buffer.from(metadata) }
  const kind = { type: 'Raw', contentType: 'application/json' }
  return { stream, revision, id: randomUUID(), ...kind, ...contents, created: 0, position: 0n }
}

export async function appendRaw (store: Store, ...events: Recorded[]): Promise<void> {
  const pipe = await store.openPipe(16)
  for (const event of events) await pipe.append([event])
  await pipe.drain()
  pipe.close()
}

export async function fillVaried (client: EventStoreDBClient, store: Store): Promise<void> {
  await fillBytes(client, store)
  await client.setStreamMetadata('assistant-1', { owner: 'me' })
  await client.appendToStream('links', [jsonEvent({ type: '$>', data: {} }), event()])
  await client.appendToStream('truncated', [event(), event(), event()])
  await client.setStreamMetadata('truncated', { truncateBefore: 2 })
  await client.appendToStream('gone', [event(), event()])
  await client.deleteStream('gone')
  await client.appendToStream('recreated', [event(), event()])
  await client.deleteStream('recreated')
  await client.appendToStream('assistant-1', [event('AssistantUpdated')], { expectedRevision: 1n })
  await client.appendToStream('recreated', [event('Again'), event('Again')], { expectedRevision: 1n })
  await client.appendToStream('recreated', [event('Again')], { expectedRevision: 3n })
  await client.setStreamMetadata('recreated', { truncateBefore: 3 })
  await client.appendToStream('tombstoned', [event()])
  await client.tombstoneStream('tombstoned', { expectedRevision: ANY })
  await client.appendToStream('$mine', [event()])
  await client.setStreamMetadata('$mine', { maxCount: 1 })
  await client.appendToStream('assistant-1', [event('AssistantUpdated')], { expectedRevision: 2n })
}

/** Odd bytes, unicode, and an event that is nearly too large. */
async function fillBytes (client: EventStoreDBClient, store: Store): Promise<void> {
  const created = event('AssistantCreated', { name: 'Zoë 🎧 名前' })
  await client.appendToStream('assistant-1', [created, event('AssistantUpdated')], { expectedRevision: NO_STREAM })
  const bytes = { data: Buffer.from([0, 255, 10, 13, 128]), metadata: Buffer.from([254, 0]) }
  await client.appendToStream('Straße 🎧', [event(), binaryEvent({ type: 'Recording', ...bytes })])
  await appendRaw(store,
    rawEvent('raw-1', 0n, '{ "big": 12345678901234567890, "half": 1.0, "10": 1, "2": 2 }', '{"spaced": true}'),
    rawEvent('raw-1', 1n, 'no JSON at all', Buffer.from([255])),
    rawEvent('raw-1', 2n, '', '{"__proto__":{"a":1}}'),
    rawEvent('raw-1', 3n, 'null'))
  await client.appendToStream('large-1', [event('Large', { text: 'ü'.repeat(523_000) })])
}

/** All that travels, as text that can be compared, without the ids of events that the server makes. */
export async function written (store: Store): Promise<string[]> {
  const lines: string[] = []
  const log = await logOf(store)
  for await (const event of log.read(0n)) {
    const { stream, revision, id, type, contentType, data, metadata } = event
    const contents = [data, metadata].map((bytes) => Buffer.from(bytes).toString('base64'))
    lines.push([stream, revision, mayBeServerMade(event) ? '' : id, type, contentType, ...contents].join(' '))
  }
  return lines
}
