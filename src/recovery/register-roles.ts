// Registers a process that runs roles: commands that need every role stopped look for it, whatever its roles are.
import type { Pool } from 'pg'
import { endsWithin } from '../postgres/ends-within.js'
import { wheneverLeased } from '../subscriptions/lease.js'
import { pause } from '../timing/pause.js'

export interface Registration {
  pool: Pool
  roles: readonly string[]
  /** Names the process: host, pid and a random part. */
  holder: string
}

const retryMs = 500
const forgetWithinMs = 2_000

/** A lease that nobody else asks for, renewed while the process lives. @returns what ends it, once it is registered */
export async function registerRoles ({ pool, roles, holder }: Registration): Promise<() => Promise<void>> {
  const stopping = new AbortController()
  const { signal } = stopping
  const name = `role ${holder}`
  await pool.query("DELETE FROM ledger.leases WHERE name LIKE 'role %' AND expires_at < now() - interval '1 hour'")
  let registered = () => {}
  const isRegistered = new Promise<void>((resolve) => { registered = resolve })
  const lease = { pool, name, holder: `${holder} (${roles.join(', ')})`, signal }
  const running = (async () => {
    while (!signal.aborted) {
      await wheneverLeased(lease, async (held) => {
        registered()
        await new Promise((resolve) => held.signal.addEventListener('abort', resolve, { once: true }))
      }).catch(() => pause(retryMs, signal)) // Postgres is away: others report it
    }
  })()
  await isRegistered
  return async () => {
    stopping.abort()
    const forgotten = running.then(() => pool.query('DELETE FROM ledger.leases WHERE name = $1', [name]))
    await endsWithin(forgetWithinMs, forgotten) // it expires anyway
  }
}
