// Another process of the API, held between what it looks up for a command and its append.
import { signToken } from '../../../src/cli/running/sign-token.js'
import { eventually } from '../eventually.js'
import { caller } from '../running-service.js'
import { configOf, type TestService } from '../service.js'
import type { Teardown } from '../teardown.js'

/** It takes its first ids for leads, and so appends, once `release` was called. */
export async function heldAtIds (t: Teardown, { start, parts: { pool } }: TestService) {
  const { url, stop } = await start(['api'])
  t.teardown(stop)
  const send = caller(url)
  const token = await signToken(configOf({}).jwt, { user: '1', ttl: '1h' })
  const locker = await pool.connect()
  await locker.query('BEGIN')
  await locker.query('ALTER SEQUENCE ledger.lead_ids CACHE 1')
  const isWaiting = async () => {
    const { rows } = await pool.query(
      "SELECT FROM pg_locks WHERE NOT granted AND relation = 'ledger.lead_ids'::regclass"
    )
    return rows.length > 0
  }
  return {
    send: (method: string, path: string, body: object) => send(method, path, { token, body }),
    waiting: () => eventually(isWaiting),
    async release () {
      await locker.query('ROLLBACK')
      locker.release()
    }
  }
}
