// The settings of the roles and commands that a bench runs.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Environment } from './run.js'

const secret = () => randomBytes(32).toString('hex')

interface BackEnds { dir: string, databaseUrl: string, eventStoreUrl: string }

/** With secrets of its own; on ports that are free. */
export function environmentOf ({ dir, databaseUrl, eventStoreUrl }: BackEnds): Environment {
  return {
    npm_lifecycle_event: 'bench', // so that the processes end with this one, whatever ends it
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: eventStoreUrl,
    REDIS_URL: '',
    DATA_DIR: join(dir, 'data'),
    PORT: '0',
    LOG_LEVEL: 'warn',
    JWT_SECRET: secret(),
    SECRET_KEY: secret(),
    LEAD_DIGEST_KEY: secret()
  }
}
