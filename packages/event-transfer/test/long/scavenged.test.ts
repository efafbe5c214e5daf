// What was hidden or scavenged away does not travel, and revisions stay: a log in which persons were erased is copied.
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NO_STREAM } from '@eventstore/db-client'
import { collect, scavenge } from '@ringledger/embedded-event-store/testing'
import t from 'tap'
import { exportToFile } from '../../src/export.js'
import { openExport } from '../../src/import.js'
import { event } from '../support/varied-log.js'
import { logOf } from '../../src/source.js'
import { transfer } from '../../src/transfer.js'
import { copy, placesOn, type Place } from '../support/place.js'

const place = await placesOn(t)
const options = { signal: new AbortController().signal, onProgress () {} }
const secret = () => createHash('sha256').update(randomUUID()).digest('hex')

const revisions = async ({ client }: Place, stream: string) =>
  (await collect(client.readStream(stream))).map(({ event }) => Number(event?.revision))

/** All that a log holds, the server's own apart. */
const textOf = async ({ store }: Place) => {
  const texts: string[] = []
  for await (const { stream, data } of store.read(0n)) if (!stream.startsWith('$')) texts.push(Buffer.from(data).toString())
  return texts.join()
}

/** A call and a person that were erased, a lead that was restated, others that were not. */
async function fillErased ({ client }: Place): Promise<string> {
  const hidden = secret()
  await client.appendToStream('call-1', [event('CallCompleted', { hidden }), event('CallCompleted', { hidden })])
  await client.appendToStream('call-2', [event('CallCompleted')])
  await client.appendToStream('person-1', [event('PersonKeyCreated', { hidden })])
  await client.appendToStream('lead-1', [event('LeadCreated', { hidden }), event('LeadUpdated', { hidden }), event()])
  await client.appendToStream('call-1', [event('CallErased')], { expectedRevision: 1n })
  await client.setStreamMetadata('call-1', { truncateBefore: 1 })
  await client.setStreamMetadata('call-1', { truncateBefore: 2 })
  await client.appendToStream('person-1', [event('PersonKeyErased')])
  await client.deleteStream('person-1')
  await client.appendToStream('lead-1', [event('LeadErased'), event('LeadStatusChanged')])
  await client.setStreamMetadata('lead-1', { truncateBefore: 3 })
  await client.appendToStream('ended', [event('Happened', { hidden })])
  await client.tombstoneStream('ended')
  return hidden
}

async function isSame (t: Pick<typeof import('tap').t, 'same'>, target: Place, what: string): Promise<void> {
  t.same(await revisions(target, 'call-1'), [2], what)
  t.same(await revisions(target, 'lead-1'), [3, 4], what)
  t.same(await revisions(target, 'call-2'), [0], what)
}

for (const isScavenged of [false, true]) {
  t.test(`a log with erasures is copied, exported and imported, ${isScavenged ? 'after' : 'before'} a scavenge`, async (t) => {
    const [source, target, imported] = [await place(t), await place(t), await place(t)]
    const hidden = await fillErased(source)
    if (isScavenged) await scavenge(source.server, source.client)
    const copied = await copy(source.store, target.store)
    t.match(copied, { events: 9, streams: 8, appended: 9, others: 0 })
    t.match(await copy(source.store, target.store), { appended: 0, sha256: copied.sha256 }, 'again')
    t.notMatch(await textOf(target), hidden)
    await isSame(t, target, 'copied')

    const file = join(t.testdir(), 'log.jsonl')
    const exported = await exportToFile(file, await logOf(source.store), options)
    t.match(exported, { events: 9, streams: 8, sha256: copied.sha256 })
    t.notMatch(readFileSync(file, 'utf8'), hidden)
    const opening = await openExport(file, { ...options, allowTruncated: false })
    const taken = await transfer(opening, imported.store, { ...options, inFlight: 16 })
    t.match(taken, { events: 9, sha256: copied.sha256 })
    await isSame(t, imported, 'imported')

    t.match(
      await copy(target.store, (await place(t)).store), { events: 9, sha256: copied.sha256 }, 'a copy of the copy'
    )
    await scavenge(target.server, target.client)
    t.match(await copy(source.store, target.store), { appended: 0, sha256: copied.sha256 }, 'a copy that was scavenged')
    t.same((await target.store.knows({ ...(await last(source, 'call-1')) })), 'same')
  })
}

async function last ({ store }: Place, stream: string) {
  for await (const event of store.read(0n)) if (event.stream === stream && event.revision === 2n) return event
  throw new Error(`no ${stream}`)
}

t.test('what was erased since the last copy is erased in the target by the next one, and a person may come back', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await source.client.appendToStream('call-1', [event()])
  await source.client.appendToStream('person-1', [event('PersonKeyCreated')])
  await copy(source.store, target.store)
  const erase = async (stream: string, expectedRevision: bigint) => {
    await source.client.appendToStream(stream, [event('Erased')], { expectedRevision })
    await source.client.setStreamMetadata(stream, { truncateBefore: Number(expectedRevision) + 1 })
  }
  await erase('call-1', 0n)
  await source.client.appendToStream('person-1', [event('PersonKeyErased')])
  await source.client.deleteStream('person-1')
  await scavenge(source.server, source.client)
  t.match(await copy(source.store, target.store), { events: 4, appended: 4, others: 0 })
  t.same(await revisions(target, 'call-1'), [1])

  await source.client.appendToStream('person-1', [event('PersonKeyCreated')], { expectedRevision: NO_STREAM })
  await scavenge(source.server, source.client)
  t.match(await copy(source.store, target.store), { appended: 2, others: 0 })
  t.same(await revisions(target, 'person-1'), [2])
  t.match(await target.client.getStreamMetadata('person-1'), { metadata: { truncateBefore: 2 } })
  t.match(await copy(source.store, target.store), { appended: 0 })
})
