// Lets a reader wait until a projection has passed a position of the log.
import pg from 'pg'
import type { Pool } from 'pg'
import { activeCheckpoint } from './generations.js'
import { checkpointChannel } from './run.js'

export interface Positions {
  /** True as soon as readers see `projection` at `position` or later; false when `withinMs` is over first. */
  reached (projection: string, position: bigint, withinMs: number): Promise<boolean>
  /** A position that readers of `projection` are past already: never ahead of what a query that starts now can see. */
  passed (projection: string): Promise<bigint>
  close (): Promise<void>
}

interface Waiter { position: bigint, resolve (reached: boolean): void }

const pollMs = 100
const reconnectMs = 500

/**
 * Listens on a connection of its own, which must reach Postgres directly. A notification is only a hint: while
 * somebody waits, the checkpoint is polled as well, so that a lost connection costs 100 ms and not the answer.
 */
export function listenForPositions (databaseUrl: string, pool: Pool, onError: (error: Error) => void): Positions {
  const passed = new Map<string, bigint>()
  const waiting = new Map<string, Set<Waiter>>()
  let closed = false
  let isListening = false
  let listener = listen()

  return {
    reached (projection, position, withinMs) {
      if ((passed.get(projection) ?? -1n) >= position) return Promise.resolve(true)
      return new Promise((resolve) => wait(projection, position, withinMs, resolve))
    },
    async passed (projection) {
      const known = isListening ? passed.get(projection) : undefined
      return known ?? await look(projection)
    },
    async close () {
      closed = true
      await (await listener)?.end().catch(() => {})
    }
  }

  function wait (projection: string, position: bigint, withinMs: number, resolve: (reached: boolean) => void): void {
    const waiters = waiting.get(projection) ?? new Set()
    waiting.set(projection, waiters)
    const poll = setInterval(() => { look(projection).catch(onError) }, pollMs)
    const timeout = setTimeout(() => waiter.resolve(false), withinMs)
    const waiter = {
      position,
      resolve (reached: boolean) {
        clearInterval(poll)
        clearTimeout(timeout)
        waiters.delete(waiter)
        resolve(reached)
      }
    }
    waiters.add(waiter)
    if (!passed.has(projection)) look(projection).catch(onError)
  }

  async function look (projection: string): Promise<bigint> {
    const { rows } = await pool.query<{ position: string }>(`SELECT position FROM ${activeCheckpoint(projection)}`)
    const position = BigInt(rows[0]?.position ?? 0)
    advance(projection, position)
    return position
  }

  function advance (projection: string, position: bigint): void {
    if (position <= (passed.get(projection) ?? -1n)) return
    passed.set(projection, position)
    for (const waiter of waiting.get(projection) ?? []) {
      if (waiter.position <= position) waiter.resolve(true)
    }
  }

  async function listen (): Promise<pg.Client | undefined> {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'ringledger positions', keepAlive: true })
    let lost = false
    const again = () => {
      if (lost || closed) return
      lost = true
      isListening = false
      client.end().catch(() => {})
      setTimeout(() => { if (!closed) listener = listen() }, reconnectMs).unref()
    }
    client.on('error', again)
    client.on('end', again)
    client.on('notification', ({ payload = '' }) => {
      const [projection = '', position = '-1'] = payload.split(' ')
      advance(projection, BigInt(position))
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${checkpointChannel}`)
      passed.clear() // notifications of the time before were missed
      isListening = true
      return client
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)))
      again()
      return undefined
    }
  }
}
