// The service that is drilled: its roles as processes on the servers that were given, with a catalogue for its users.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Role } from '../../src/services/services.js'
import { packageRoot } from '../../src/package-root.js'
import { Client } from '../support/client.js'
import { catalogueOf, environmentOf, tokenFor } from '../support/environment.js'
import { ringledger, run, type Environment } from '../support/run.js'
import { startRole } from '../support/service.js'
import type { Servers } from './options.js'

/** User ids; the campaign of a user has the id of the user. User 1 is that of the walk. */
export const drillUsers = Array.from({ length: 20 }, (_, n) => 1_001 + n)

export interface DrilledService {
  env: Environment
  url: string
  client: Client
  tokenOf (user: number | string, role?: string): Promise<string>
  close (): Promise<void>
}

/** @throws when a part of it does not start */
export async function openService ({ eventstore, database, redis }: Servers): Promise<DrilledService> {
  const dir = mkdtempSync(join(tmpdir(), 'ringledger-drill-'))
  const closing = [async () => { rmSync(dir, { recursive: true, force: true }) }]
  const close = async () => { for (const each of closing.splice(0).reverse()) await each() }
  try {
    const env: Environment = {
      ...environmentOf({ dir, databaseUrl: database, eventStoreUrl: eventstore }),
      REDIS_URL: redis ?? '',
      RATE_LIMIT_PER_MINUTE: '0',
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128'
    }
    writeFileSync(join(dir, 'catalog.json'), JSON.stringify(catalog()))
    await run(ringledger('catalog', 'import', join(dir, 'catalog.json')), env)
    const start = async (role: Role) => {
      const running = await startRole(role, env)
      closing.push(running.stop)
      return running
    }
    const [{ url }] = await Promise.all([start('api'), start('projector'), start('worker')])
    const client = new Client(url, '127.0.0.1', 64)
    closing.push(async () => client.close())
    return { env, url, client, tokenOf: (user, role) => tokenFor(env, user, role), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The example, which the walk fits, with the users of the drill. */
function catalog (): object {
  const example: { users: object[] } = JSON.parse(readFileSync(join(packageRoot, 'examples/catalog.json'), 'utf8'))
  return { ...example, users: [...example.users, ...catalogueOf(drillUsers).users] }
}
