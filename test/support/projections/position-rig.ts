// Listeners for positions, and a projection of assistants that moves them.
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { Positions, type PositionsOptions } from '../../../projections/engine/positions.js'
import { openPool } from '../../../src/postgres/pool.js'
import { assistantCreated, logOf, type Told } from '../events/call-events.js'
import { eventually } from '../eventually.js'
import { scratchLedger, notificationsOf } from '../postgres/ledger.js'
import { emptyReadModels, feeding, type Feed } from './projected.js'
import type { Teardown } from '../teardown.js'
import type { Notifications } from '../../../src/postgres/notifications.js'

/** Its first query is LISTEN; a heartbeat may have followed. */
const hasListened = "AND state = 'idle' AND query <> ''"
const ofListener = "application_name = 'ringledger notifications' AND datname = current_database()"

/** Empties the read model and restarts its log before each test. */
export async function positionRig (t: Test) {
  const { databaseUrl, pool } = await scratchLedger(t)
  let [current, place, lastId]: [Feed | undefined, ReturnType<typeof logOf>, number] = [undefined, logOf(), 0]
  t.beforeEach(async () => {
    await emptyReadModels(pool, [assistants])
    current = await feeding(assistants, pool)
    place = logOf()
  })
  const sessions = async (more = '') =>
    (await pool.query(`SELECT FROM pg_stat_activity WHERE ${ofListener} ${more}`)).rowCount
  const isGone = () => eventually(async () => await sessions() === 0)
  const isListening = () => eventually(async () => await sessions(hasListened) === 1)
  return {
    ...{ databaseUrl, pool, isGone, isListening, deafPool },
    async listening (t: Test, through: Pool = pool) {
      await isGone() // the listener of the previous test
      const positions = positionsOf(t, notificationsOf(t, databaseUrl), through)
      await positions.passed('assistants').catch(() => {}) // the first call makes it listen
      await isListening()
      return positions
    },
    /** Projects one more assistant, and returns its position. */
    projectOne: () => project(assistantCreated(++lastId)),
    /** Parks an event of a new assistant that cannot be projected, and returns its position. */
    parkOne: () => project({ stream: `assistant-${++lastId}`, type: 'AssistantUpdated', data: { nonsense: true } })
  }

  async function project (told: Told): Promise<bigint> {
    const [event] = place([told])
    if (!event) throw new Error('no event')
    await current?.batch([event])
    return event.position
  }
}

/** Positions of a log that is empty by default, until the test ends. */
export function positionsOf (
  t: Teardown, notifications: Notifications, pool: Pool, options: Partial<PositionsOptions> = {}
): Positions {
  const positions = new Positions({ notifications, pool, head: async () => 0n, onError () {}, ...options })
  t.teardown(() => positions.close())
  return positions
}

/** A pool whose database does not answer: positions that use it learn from notifications only. */
function deafPool (t: Test): Pool {
  const deaf = openPool('postgres://nobody@127.0.0.1:1/none', { applicationName: 'deaf', onError: () => {} })
  t.teardown(() => deaf.end())
  return deaf
}
