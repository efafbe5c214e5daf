// The service that is soaked: its roles as processes, on back ends of its own, with users who have something.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processModule } from '@ringledger/embedded-event-store/child'
import { startServer, temporaryPostgres } from '../support/back-ends.js'
import { catalogueOf, environmentOf, tokenFor } from '../support/environment.js'
import { ringledger, run, type Environment } from '../support/run.js'
import { startRole, type Running } from '../support/service.js'

/** User ids; the campaign of a user has the id of the user. */
export const honestUsers = Array.from({ length: 100 }, (_, n) => 1_001 + n)
export const hostileUsers = Array.from({ length: 8 }, (_, n) => 9_001 + n)

/** Smaller than usual, so that what may be remembered is remembered before the memory is compared. */
const streamCacheMb = '8'

export interface Scene {
  /** Gone with it. */
  dir: string
  url: string
  /** Of a user, or of the engine. */
  tokenOf (user: number | string, role?: string): Promise<string>
  /** Process ids by what they are; Postgres is that of its postmaster. */
  pids: Record<string, number>
  /** Takes webhooks, and answers `GET /arrivals` with how many came. */
  receiverUrl: string
  close (): Promise<void>
}

type Closing = Array<() => Promise<void>>

/** @throws when a part of it does not start */
export async function openScene (): Promise<Scene> {
  const closing: Closing = []
  const close = async () => { for (const each of closing.splice(0).reverse()) await each() }
  try {
    return { ...await startAll(closing), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function startAll (closing: Closing): Promise<Omit<Scene, 'close'>> {
  const { dir, postgres, close: closePostgres } = await temporaryPostgres()
  closing.push(closePostgres)
  const telling = { NODE_OPTIONS: `--import ${new URL('tell-live.js', import.meta.url)}`, SOAK_DIR: dir }
  const eventStore = await startServer({ module: processModule, env: { DATABASE_URL: postgres.url, ...telling } }, dir)
  closing.push(eventStore.close)
  const receiver = await startServer({ module: new URL('./receiver.js', import.meta.url) }, dir)
  closing.push(receiver.close)
  const env: Environment = {
    ...telling,
    ...environmentOf({ dir, databaseUrl: postgres.url, eventStoreUrl: eventStore.url }),
    STREAM_CACHE_MB: streamCacheMb
  }
  writeFileSync(join(dir, 'catalog.json'), JSON.stringify(catalogueOf([...honestUsers, ...hostileUsers])))
  await run(ringledger('catalog', 'import', join(dir, 'catalog.json')), env)
  const roles = new Map<string, Running>()
  for (const role of ['projector', 'worker', 'api'] as const) {
    const running = await startRole(role, env)
    closing.push(running.stop)
    roles.set(role, running)
  }
  return {
    dir,
    url: roles.get('api')?.url ?? '',
    tokenOf: (user, role) => tokenFor(env, user, role),
    pids: {
      ...Object.fromEntries([...roles].map(([role, { pid }]) => [role, pid])),
      'event store': eventStore.pid,
      postgres: postgres.pid
    },
    receiverUrl: `http://127.0.0.1:${receiver.port}`
  }
}
