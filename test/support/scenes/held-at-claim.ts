// Another process of the API, held between what it looks up for a command and its append.
import { randomUUID } from 'node:crypto'
import { signToken } from '../../../src/cli/running/sign-token.js'
import { eventually } from '../eventually.js'
import { caller, untilReady } from '../running-service.js'
import { configOf, type TestService } from '../service.js'
import type { Teardown } from '../teardown.js'

/**
 * Each of its commands has a key, and waits to claim it, until `release` was called. Of what commands without a key
 * need, nothing is locked: not the sequences of ids either, which every process looks at that gives out ids.
 */
export async function heldAtClaim (t: Teardown, { start, parts: { pool } }: TestService) {
  const { url, stop } = await start(['api'])
  t.teardown(stop)
  await untilReady(url)
  const send = caller(url)
  const token = await signToken(configOf({}).jwt, { user: '1', ttl: '1h' })
  const locker = await pool.connect()
  await locker.query('BEGIN; LOCK TABLE ledger.idempotency_keys IN SHARE MODE')
  let sent = 0
  const areWaiting = async () => {
    const { rows } = await pool.query(
      "SELECT FROM pg_locks WHERE NOT granted AND relation = 'ledger.idempotency_keys'::regclass"
    )
    return rows.length === sent
  }
  return {
    async send (method: string, path: string, body: object) {
      sent += 1
      return await send(method, path, { token, body, headers: { 'idempotency-key': randomUUID() } })
    },
    /** All that were sent. */
    waiting: () => eventually(areWaiting),
    async release () {
      await locker.query('ROLLBACK')
      locker.release()
    }
  }
}
