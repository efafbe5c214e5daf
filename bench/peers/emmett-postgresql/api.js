// Emmett on PostgreSQL: events and rows in one transaction, so that readers see what was written at once.
import { CommandHandler, STREAM_DOES_NOT_EXIST, projections } from '@event-driven-io/emmett'
import { getPostgreSQLEventStore, postgreSQLRawSQLProjection } from '@event-driven-io/emmett-postgresql'
import { sql } from '@event-driven-io/dumbo'
import { evolve, eventTypes, initialState } from '../service/decisions.js'
import { serve } from '../service/http.js'
import { createTables, openPool, statementOf } from '../service/rows.js'

const pool = openPool()
await createTables(pool)
const rows = postgreSQLRawSQLProjection({ name: 'rows', canHandle: eventTypes, evolve: literal })
const store = getPostgreSQLEventStore(process.env.DATABASE_URL, { projections: projections.inline([rows]) })
await store.schema.migrate()
const handleCommand = CommandHandler({ evolve, initialState })

await serve(pool, async (stream, decide, isNew) => {
  const options = isNew ? { expectedStreamVersion: STREAM_DOES_NOT_EXIST } : {}
  const { newState, nextExpectedStreamVersion } = await handleCommand(store, stream, decide, options)
  return { state: newState, version: nextExpectedStreamVersion }
}, async () => {})

/** The statement with its values in the text, as a raw projection gives it. */
function literal ({ type, data, metadata: { streamPosition } }) {
  const { text, values } = statementOf({ type, data }, streamPosition)
  const places = []
  const format = text.replace(/\$(\d+)/g, (_, nth) => {
    places.push(String(values[nth - 1]))
    return '%L'
  })
  return sql(format, ...places)
}
