// A retry reads the parked events of a stream in parts that a small heap holds, however large they are.
import t from 'tap'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { readParts } from '../../../src/log/read.js'
import { EventLog } from '../../../src/log/event-log.js'
import { appender } from '../../support/events/appender.js'
import { assistantCreated, assistantUpdated } from '../../support/events/call-events.js'
import { mainProcess } from '../../support/processes/main-process.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels } from '../../support/projections/projected.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

const { postgres, connection, store } = await scratchEventStore(t)
const { pool, databaseUrl } = await scratchLedger(t, postgres)
const streams = new EventLog(connection)
await emptyReadModels(pool)
await pool.query('UPDATE ledger.dispatcher_checkpoint SET position = 1000000')

const count = 110
const prompt = (nth: number) => `${nth} ${'x'.repeat(800 * 1024)}`
const append = appender(streams)
await append(assistantCreated(1))
for (let nth = 1; nth < count; nth += 1) await append(assistantUpdated(1, { system_prompt: prompt(nth) }))

const parts: StoredEvent[][] = []
for await (const part of readParts(streams, 'assistant-1', { from: 0n, to: BigInt(count) })) parts.push(part)

t.test('a part holds some megabytes, and all parts every event once and in order', async (t) => {
  t.ok(parts.every((part) => JSON.stringify(part.map(({ data }) => data)).length < 5 * 2 ** 20))
  t.ok(parts.length < count / 5, 'and it is worth a read')
  t.strictSame(parts.flat().map(({ revision }) => Number(revision)), Array.from({ length: count }, (_, nth) => nth))
})

for (const [work, consumer] of [['retry', 'read_assistants_g1'], ['retry-dispatcher', 'dispatcher']] as const) {
  t.test(`a small heap outlives 110 parked events of 800 KiB: ${work}`, async (t) => {
    for (const { stream, revision, position, type } of parts.flat()) {
      await pool.query(`
        INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
        VALUES ($1, $2, $3, $4, $5, 'not readable yet')`, [consumer, stream, revision, position, type])
    }
    const { said, ended } = mainProcess(
      t, new URL('./small-heap-main.js', import.meta.url), [databaseUrl, store.url, work, 'assistant-1'], { heapMb: 64 }
    )
    t.equal(await ended, 0)
    t.match(said, [{ events: count }])
  })
}

t.test('what they say is known then', async (t) => {
  const { rows: [row] } = await pool.query(
    "SELECT settings->>'system_prompt' AS prompt FROM read_assistants_g1.assistants"
  )
  t.equal(row.prompt, prompt(count - 1))
  const { rows: [known] } = await pool.query('SELECT revision::integer FROM ledger.dispatch_assistants')
  t.equal(known.revision, count - 1)
})
