// The settings of the roles and commands that a bench runs, their users, and tokens for these.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { signToken } from '../../src/cli/token.js'
import type { Environment } from './run.js'

const secret = () => randomBytes(32).toString('hex')

interface BackEnds { dir: string, databaseUrl: string, eventStoreUrl: string }

/** With secrets of its own; on ports that are free. Webhooks may go to loopback. */
export function environmentOf ({ dir, databaseUrl, eventStoreUrl }: BackEnds): Environment {
  return {
    npm_lifecycle_event: 'bench', // so that the processes end with this one, whatever ends it
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: eventStoreUrl,
    REDIS_URL: '',
    DATA_DIR: join(dir, 'data'),
    PORT: '0',
    LOG_LEVEL: 'warn',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    JWT_SECRET: secret(),
    SECRET_KEY: secret(),
    LEAD_DIGEST_KEY: secret()
  }
}

/** Of a user, or of a caller with a role, for processes with these settings. */
export const tokenFor = (env: Environment, user: number | string, role?: string) =>
  signToken({ secret: env.JWT_SECRET ?? '', roleClaim: 'role' }, { user: String(user), ttl: '24h', ...(role && { role }) })

/** For `ringledger catalog import`, with a campaign of each user that has the id of the user. */
export const catalogueOf = (users: readonly number[]) => ({
  voices: [{ id: 1, name: 'Amelia' }],
  languages: ['English'],
  models: ['gpt-4o'],
  users: users.map((id) => ({ id, campaigns: [{ id, name: `Campaign of ${id}` }], phone_numbers: [] }))
})
