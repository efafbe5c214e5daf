// Emmett on EventStoreDB, answering once readers see what was written, or with WAIT=0 once it is appended.
import { CommandHandler, STREAM_DOES_NOT_EXIST } from '@event-driven-io/emmett'
import { getEventStoreDBEventStore } from '@event-driven-io/emmett-esdb'
import { EventStoreDBClient } from '@eventstore/db-client'
import { evolve, initialState } from '../service/decisions.js'
import { serve } from '../service/http.js'
import { createTables, openPool, untilVisible } from '../service/rows.js'

const pool = openPool()
await createTables(pool)
const store = getEventStoreDBEventStore(EventStoreDBClient.connectionString(process.env.EVENTSTORE_URL))
const handleCommand = CommandHandler({ evolve, initialState })
const waits = process.env.WAIT !== '0'

await serve(pool, async (stream, decide, isNew) => {
  const options = isNew ? { expectedStreamVersion: STREAM_DOES_NOT_EXIST } : {}
  const { newState, nextExpectedStreamVersion } = await handleCommand(store, stream, decide, options)
  return { state: newState, version: nextExpectedStreamVersion }
}, async (table, id, version) => { if (waits) await untilVisible(pool, table, id, version) })
