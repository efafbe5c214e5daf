// Ways to kill the event store and its Postgres under a load.
import { type Chaos, eventually, killAll, type PostgresCluster } from '@ringledger/embedded-postgres/testing'
import type { EventStoreProcess } from './event-store-process.js'

/** By their names; each resolves when everything is there again. */
export function killsOf (
  server: EventStoreProcess, postgres: PostgresCluster, chaos: Chaos
): Record<string, () => Promise<void>> {
  return {
    async server () {
      await server.kill()
      await bringBack(server, chaos)
    },
    async postmaster () {
      await postgres.kill()
      await bringBack(postgres, chaos)
    },
    async 'all of Postgres' () {
      await killWhole(postgres)
      await bringBack(postgres, chaos)
    },
    async everything () {
      await Promise.all([server.kill(), killWhole(postgres)])
      await bringBack(postgres, chaos)
      await bringBack(server, chaos)
    },
    /** Then Postgres ends its other sessions too, and recovers by itself. */
    'writing session': async () => { killAll(await eventually(() => writingSessions(postgres))) }
  }
}

/** Starts it again; now and then it is killed while it starts. */
async function bringBack (killed: Pick<EventStoreProcess, 'start' | 'kill'>, { onceIn, instant }: Chaos): Promise<void> {
  if (onceIn(4)) {
    const starting = killed.start().catch(() => {}) // it did not come that far
    await instant(500)
    await killed.kill()
    await starting
    await killed.kill() // the first kill may have come between two of its tries
  }
  await killed.start()
}

async function killWhole (postgres: PostgresCluster): Promise<void> {
  const children = await eventually(() => postgres.children())
  const killed = postgres.kill()
  killAll(children)
  await killed
}

async function writingSessions (postgres: PostgresCluster): Promise<number[] | false> {
  const sessions = await postgres.children('ringledger-event-store-writer')
  return sessions.length > 0 && sessions
}
