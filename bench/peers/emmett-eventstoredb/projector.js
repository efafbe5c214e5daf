// Emmett's consumer of $all, which writes a row an event. FROM=BEGINNING rebuilds.
import { eventStoreDBEventStoreConsumer, $all } from '@event-driven-io/emmett-esdb'
import { eventTypeFilter } from '@eventstore/db-client'
import { eventTypes } from '../service/decisions.js'
import { createTables, openPool, statementOf } from '../service/rows.js'

const { EVENTSTORE_URL, FROM = 'END' } = process.env
const pool = openPool()
await createTables(pool)
const from = { stream: $all, options: { filter: eventTypeFilter({ prefixes: eventTypes }) } }
const consumer = eventStoreDBEventStoreConsumer({ connectionString: EVENTSTORE_URL, from })
consumer.processor({
  startFrom: FROM,
  async eachMessage ({ type, data, metadata: { streamPosition } }) {
    await pool.query(statementOf({ type, data }, streamPosition))
  }
})
process.stdin.on('close', () => process.exit(0)).resume()
process.stdout.write('LISTENING 0\n')
await consumer.start()
