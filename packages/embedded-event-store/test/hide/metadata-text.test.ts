// Metadata as EventStoreDB reads them: one bad value voids them all, and an undelete changes nothing but $tb.
import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import t from 'tap'
import { collect, scratchEventStore } from '../support/scratch-event-store.js'
import { proposed, wireOf } from '../support/wire.js'

const { client, store } = await scratchEventStore(t)
const { append, recorded } = wireOf(t, store.port)
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))
const revisions = async (stream: string) => {
  const read = await collect(client.readStream(stream))
  return read.map(({ event }) => Number(event?.revision))
}

/** Writes metadata byte by byte. */
const describe = (stream: string, json: string, contentType = 'application/json') => (
  append(`$$${stream}`, [proposed({ type: '$metadata', 'content-type': contentType }, Buffer.from(json))])
)

async function metadataOf (stream: string): Promise<string> {
  const [last] = await recorded(`$$${stream}`)
  return Buffer.from(last?.getData_asU8() ?? []).toString()
}

async function streamOf (count: number): Promise<string> {
  const stream = randomUUID()
  await client.appendToStream(stream, events(count))
  return stream
}

t.test('one bad value voids all of the metadata; a number that is too small voids itself', async (t) => {
  const stream = await streamOf(4)
  const hides = async (json: string) => {
    await describe(stream, json)
    return (await revisions(stream)).length < 4
  }
  t.ok(await hides('{"$maxCount":1}'))
  const bad = [
    '"$maxAge":"x"', '"$maxAge":1.0', '"$tb":1e1', '"$tb":9223372036854775808', '"$cacheControl":null', '"$tmp":1',
    '"$acl":[]', '"$acl":{"$r":1}', '"$acl":{"$r":["a",1]}', '"$acl":{"other":"a"}'
  ]
  for (const member of bad) t.notOk(await hides(`{"$maxCount":1,${member}}`), member)
  const good = ['"$maxAge":-1', '"$tb":-1', '"$acl":{"$r":"a","$w":["b"]}', '"$tmp":true', '"other":[1.5,{"$tb":"}"}]']
  for (const member of good) t.ok(await hides(`{"$maxCount":1,${member}}`), member)
  t.notOk(await hides('{"$maxCount":0}'))
  t.notOk(await hides('[1]'))
  t.notOk(await hides('not JSON'))
})

t.test('an undelete keeps every value as it was written', async (t) => {
  const stream = await streamOf(2)
  const values = '"large":12345678901234567890,"decimal":1.50,"nested":{"a":[1,"x,y:z}"],"\\u00e4":"\\""}'
  await describe(stream, `{ ${values}, "$tb": 9223372036854775807 }`)
  await client.appendToStream(stream, events(1))
  t.equal(await metadataOf(stream), `{${values},"$tb":2}`)
  t.same(await revisions(stream), [2])
})

t.test('metadata that are not of JSON content bring a deleted stream back without its events', async (t) => {
  const stream = await streamOf(2)
  await client.deleteStream(stream)
  await describe(stream, '{"colour":"red"}', 'application/octet-stream')
  t.same(await revisions(stream), [], 'old events stay hidden')
  t.equal(await metadataOf(stream), '{"colour":"red","$tb":2}')
})

t.test('a stream with the longest name has metadata like others', async (t) => {
  const stream = `${randomUUID()}${'é'.repeat(982)}` // 2,000 bytes
  await client.appendToStream(stream, events(3))
  await client.setStreamMetadata(stream, { maxCount: 1 })
  t.same((await client.getStreamMetadata(stream)).metadata, { maxCount: 1 })
  t.same(await revisions(stream), [2])
  await t.rejects(client.appendToStream(`${stream}x`, events(1)), /A stream name has at most 2,000 bytes/)
})
