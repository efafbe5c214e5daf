// `ringledger doctor` says how many erasures wait for a scavenge, as far as the event store tells of its scavenges.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { binaryEvent, jsonEvent } from '@eventstore/db-client'
import { erasuresFound } from '../../../src/cli/doctor/service.js'
import { lastScavenges } from '../../../src/log/about-server.js'
import { noteUnscavenged } from '../../../workers/persons/erasure-rows.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { scratchLedger } from '../../support/postgres/ledger.js'

/** A store that tells of scavenges as this test says. */
async function scavengedStore (t: Test, members = 1) {
  const { client, connection, postgres } = await scratchEventStore(t)
  const { pool } = await scratchLedger(t, postgres)
  const tell = async (stream: string, type: string, about: Record<string, string>) => {
    const { nextExpectedRevision } = await client.appendToStream(stream, jsonEvent({ type, data: about }))
    const data = Buffer.from(`${nextExpectedRevision}@${stream}`)
    await client.appendToStream('$scavenges', binaryEvent({ type: '$>', data }))
  }
  const scavenged = async (nodeEndpoint: string, result = 'Success') => {
    const scavengeId = randomUUID()
    await tell(`$scavenges-${scavengeId}`, '$scavengeStarted', { scavengeId, nodeEndpoint })
    await tell(`$scavenges-${scavengeId}`, '$scavengeCompleted', { scavengeId, nodeEndpoint, result })
  }
  const store = { lastScavenges: () => lastScavenges(connection, 5_000), memberCount: async () => members }
  const erase = () => noteUnscavenged(pool, randomUUID())
  return { pool, scavenged, erase, find: () => erasuresFound(pool, store) }
}

t.test('what was erased since the last scavenge waits, one erasure once', async (t) => {
  const { pool, scavenged, erase, find } = await scavengedStore(t)
  t.equal(await find(), 'none waits for a scavenge')
  const id = randomUUID()
  for (let time = 0; time < 2; time++) await noteUnscavenged(pool, id)
  const found = /^1 waits for a scavenge, the oldest since \d{4}-/
  t.match(await find(), { level: 'warning', found, mend: /Scavenge every member/ })
  await erase()
  t.match(await find(), { found: /^2 wait / })
  await scavenged('a:2113', 'Failed')
  t.match(await find(), { found: /^2 wait / }, 'one that failed does not count')
  await scavenged('a:2113')
  t.equal(await find(), 'none waits for a scavenge')
  await erase()
  t.match(await find(), { found: /^1 waits / })
})

t.test('each member of a cluster has files of its own', async (t) => {
  const { scavenged, erase, find } = await scavengedStore(t, 3)
  await erase()
  for (const member of ['a:2113', 'b:2113', 'a:2113']) await scavenged(member)
  t.match(await find(), { found: /^1 waits / })
  await scavenged('c:2113')
  t.equal(await find(), 'none waits for a scavenge')
})

t.test('a login that may not see scavenges says so', async (t) => {
  const { pool, erase } = await scavengedStore(t)
  await erase()
  const store = { lastScavenges: async () => undefined, memberCount: async () => 1 }
  const found = /unless one was done since: this login may not read \$scavenges/
  t.match(await erasuresFound(pool, store), { level: 'warning', found })
  t.match(await erasuresFound(pool, undefined), { level: 'skipped' })
})
