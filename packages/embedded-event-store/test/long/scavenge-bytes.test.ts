// After a scavenge, VACUUM FULL and a checkpoint, no file of Postgres' tables holds a byte of what was removed.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { jsonEvent } from '@eventstore/db-client'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import { scratchEventStore } from '../support/scratch-event-store.js'
import { scavenge } from '../support/scavenge.js'

const postgres = await postgresCluster(t, { fsync: false })
const { client, store } = await scratchEventStore(t, { postgres })
const admin = new pg.Client({ connectionString: postgres.url })
await admin.connect()
t.teardown(() => admin.end())

/** What no compression shortens, so that a search finds it. */
const secret = () => randomBytes(24).toString('hex')

async function filesWith (text: string): Promise<string[]> {
  await admin.query('checkpoint')
  const { rows: [found] } = await admin.query<{ data_directory: string }>('show data_directory')
  const base = join(found?.data_directory ?? '', 'base')
  const files = readdirSync(base, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const paths = files.map((file) => join(file.parentPath, file.name))
  return paths.filter((path) => readFileSync(path).includes(text))
}

t.test('neither of short events nor of long ones, which are kept apart, nor of their metadata and types', async (t) => {
  const stream = `person-${secret()}`
  const [short, long, metadata, type] = [secret(), secret(), secret(), `T${secret()}`]
  await client.appendToStream(stream, [
    jsonEvent({ type, data: { short }, metadata: { metadata } }),
    jsonEvent({ type: 'Long', data: { long, rest: randomBytes(50_000).toString('base64') } }),
    jsonEvent({ type: 'Erased', data: {} })
  ])
  const others = secret()
  await client.appendToStream('other', jsonEvent({ type: 'Kept', data: { others } }))
  for (const each of [short, long, metadata, type]) t.not((await filesWith(each)).length, 0, 'they are found before')

  await client.setStreamMetadata(stream, { truncateBefore: 2 })
  await scavenge(store, client)
  await admin.query('vacuum full')
  for (const each of [short, long, metadata, type]) t.same(await filesWith(each), [])
  t.not((await filesWith(others)).length, 0, 'other events stay')
  t.not((await filesWith(stream)).length, 0, 'and so does the name of the stream, with its last event')
})
