// Fills the template databases that tests copy.
import { runMigrations } from 'bullmq'
import { join } from 'node:path'
import pg from 'pg'
import pino, { type Logger } from 'pino'
import { importAndProject, readCatalogFile } from '../../../src/cli/catalog.js'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { projections } from '../../../projections/index.js'
import { openConnections, type Connections } from '../../../src/services/connections.js'
import { keySettings } from '../auth/secrets.js'
import { startEventStore } from '@ringledger/embedded-event-store'
import { eventually } from '../eventually.js'
import { packageRoot } from '../../../src/package-root.js'
import { migrate } from '../../../src/postgres/migrate.js'
import { keepMonths } from '../../../workers/deliveries/retention.js'

export async function migrateLedger (databaseUrl: string): Promise<void> {
  await migrate(databaseUrl, packageRoot)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await runMigrations(client, 'queue')
  await client.end()
}

/**
 * The same with read models, a log of its own, and the example catalogue in both. All read models have reached the end
 * of the log, so an API on a copy gives out ids at once, even on a slow machine.
 */
export async function setUpService (databaseUrl: string): Promise<void> {
  await migrateLedger(databaseUrl)
  const store = await startEventStore({ databaseUrl })
  const log = pino({ level: 'silent' })
  const connections = await openConnections({ databaseUrl, eventStoreUrl: store.url }, keySettings, log)
  const catalogue = await readCatalogFile(join(packageRoot, 'examples/catalog.json'))
  const head = await importAndProject(connections, catalogue, keySettings, log)
  await projectUpTo(head, connections, log)
  await keepMonths(connections.pool, 90) // as the first worker would
  await connections.close()
  await store.close()
}

async function projectUpTo (head: bigint, { consumerPool, streams, positions }: Connections, log: Logger) {
  const stopping = new AbortController()
  const options = { pool: consumerPool, streams, holder: 'template', signal: stopping.signal, log }
  const projecting = feedGenerations(projections, options)
  for (const { name } of projections) await eventually(() => positions.reached(name, head, 1_000))
  stopping.abort()
  await projecting
}
