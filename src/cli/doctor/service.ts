// Checks what the service has recorded in Postgres and the log: does anything wait for an operator?
import { DatabaseError, type Pool } from 'pg'
import type { Streams } from '../../log/event-log.js'
import type { SecretKeys } from '../../privacy/sealed-text.js'
import { projections } from '../../../projections/index.js'
import { activePositions } from '../../../projections/engine/generations.js'
import { openBreakers } from '../../../projections/engine/circuit-breaker.js'
import { dispatcher, parkedStreams } from '../../../projections/engine/parked.js'
import { openPool } from '../../postgres/pool.js'
import { endsWithin } from '../../timing.js'
import { explainBehind, readDatabaseState } from '../../recovery/markers.js'
import { OtherLog } from '../../log/errors.js'
import { refuseOtherLog } from '../../recovery/same-log.js'
import { unfinishedByKind } from '../../../workers/work/requests.js'
import { troubledWebhooks } from '../../../workers/deliveries/webhooks.js'
import { lastUnaccounted } from '../../../workers/operate/audit.js'
import { isResealed, neededKeys, refuseLostKeys } from '../../../workers/operate/reseal.js'
import { countDue } from '../../../workers/operate/stats.js'
import { waitingRequests, unscavenged } from '../../../workers/persons/erasure-rows.js'
import type { checkEventStore } from './back-ends.js'
import type { Finding } from '../../ops/answers.js'
import { problem, runIfReachable, skipped, warning, type Check, type Found } from './check.js'

interface ServiceParts {
  databaseUrl: string
  /** Absent when it does not answer. */
  store?: ReturnType<typeof checkEventStore> | undefined
  /** Absent before they are generated. */
  keys?: SecretKeys | undefined
}

export async function checkService ({ databaseUrl, ...parts }: ServiceParts): Promise<Finding[]> {
  const options = { applicationName: 'ringledger doctor', max: 2, onError: () => {}, answerWithinMs: 2_800 }
  const pool = openPool(databaseUrl, options)
  try {
    let isMade = false
    return await runIfReachable('Service', ['tables', async () => {
      const made = "SELECT FROM pg_tables WHERE schemaname = 'ledger' AND tablename = 'identity_count'"
      isMade = (await pool.query(made)).rowCount === 1
      return isMade ? undefined : skipped('not made yet')
    }], () => isMade ? checksOf(pool, parts) : [], 'See why Postgres does not answer, or run `ringledger migrate`.')
  } finally {
    await endsWithin(500, pool.end())
  }
}

function checksOf (pool: Pool, { store, keys }: Omit<ServiceParts, 'databaseUrl'>): Check[] {
  return [
    ['restore guard', async () => store ? await restoreFound(pool, store.streams) : skipped(storeIsAway)],
    ['parked events', async () => {
      const parked = await parkedStreams(pool, [...projections.map(({ name }) => name), dispatcher])
      if (parked.length === 0) return 'none'
      return warning(`of ${parked.length} streams`, 'Look with `ringledger projections quarantine list`.')
    }],
    ['circuit breakers', async () => {
      const names = (await openBreakers(pool, projections)).map(({ projection }) => projection)
      if (names.length === 0) return 'closed'
      return problem(`open: ${names.join(', ')}`, 'Mend what they refuse, then `ringledger projections quarantine resume NAME`.')
    }],
    ['unaccounted calls', async () => {
      const unaccounted = await lastUnaccounted(pool)
      if (unaccounted === undefined) return skipped('a worker has not counted yet')
      return unaccounted === 0
        ? 'none'
        : problem(String(unaccounted), 'Count again with `ringledger webhooks stats`, and tell who maintains this.')
    }],
    ['failing webhooks', async () => await failingWebhooks(pool)],
    ['background', async () => await failingFound(pool)],
    ['erasures', async () => await erasuresFound(pool, store)],
    ['keys', async () => await keysFound(pool, keys)]
  ]
}

const mostNamed = 3

async function failingWebhooks (pool: Pool) {
  const found = await troubledWebhooks(pool, mostNamed, ['suspended', 'failing'])
  if (found.length === 0) return 'none'
  const { suspended, failing } = await countDue(pool)
  const named = found.map((each) =>
    `${each.url} of user ${each.user_id}, ${each.state} since ${each.since}: ${each.last_error ?? 'its error is no longer kept'}`)
  return warning(`${failing} fail, ${suspended} are suspended: ${named.join('; ')}`, 'Look with `ringledger webhooks failing`.')
}

async function failingFound (pool: Pool) {
  const failing = (await unfinishedByKind(pool)).filter((each) => each.failing > 0)
  if (failing.length === 0) return 'no request fails'
  const found = failing.map(({ kind, failing: count }) => `${count} of ${kind}`).join(', ')
  return warning(`requests that fail again and again: ${found}`, 'docs/operations.md, "RingledgerBackgroundFails".')
}

/** Every role checks this at its start: is the log older than the database, another one, or newer? */
async function restoreFound (pool: Pool, streams: Streams) {
  try {
    await refuseOtherLog(pool, streams, await activePositions(pool, projections))
    const behind = explainBehind(await readDatabaseState(pool, streams))
    return behind === undefined ? 'the database is level with the log' : problem(behind, mendRestored)
  } catch (error) {
    if (error instanceof OtherLog) return problem(error.message, mendRestored)
    if (error instanceof DatabaseError && error.code === undefinedTable) return skipped('no role has started yet')
    throw error
  }
}

const undefinedTable = '42P01'
const storeIsAway = 'the event store does not answer'
const mendRestored = 'docs/operations.md, "Restore".'

async function keysFound (pool: Pool, keys: SecretKeys | undefined) {
  if (!keys) return skipped('SECRET_KEY was not generated yet')
  const lost = await refuseLostKeys(pool, keys).then(() => undefined, (error: Error) => error.message)
  if (lost !== undefined) return problem(lost, 'Put the key that is missing into SECRET_KEY_PREVIOUS.')
  const previous = await neededKeys(pool, keys)
  if (previous.length === 0) return 'SECRET_KEY opens everything'
  const needed = previous.filter(({ texts, persons }) => texts + persons > 0).map(({ place }) => place)
  if (needed.length > 0) {
    return warning(`number ${needed.join(', ')} of SECRET_KEY_PREVIOUS is still needed`, 'Run `ringledger secrets reseal`.')
  }
  return await isResealed(pool, keys)
    ? warning('nothing needs SECRET_KEY_PREVIOUS', 'Empty it, in every process.')
    : warning('nothing that the ledger knows needs SECRET_KEY_PREVIOUS',
      'Run `ringledger secrets reseal`, which looks through the log, and empty it.')
}

const mendUnscavenged = 'Scavenge every member: docs/eventstoredb.md, "Scavenging". A server tells of scavenges for 30 days.'

/** Every member has been scavenged since the earliest of their last scavenges, once each has one. */
export async function erasuresFound (
  pool: Pool, store: Pick<ReturnType<typeof checkEventStore>, 'lastScavenges' | 'memberCount'> | undefined
): Promise<Found> {
  const [waiting] = await waitingRequests(pool)
  if (waiting) return warning(`${waiting.type} ${waiting.id} waits for ${waiting.waits_for}`, 'docs/privacy.md, "What an operator does"')
  if (!store) return skipped(storeIsAway)
  const [scavenges, members] = await Promise.all([store.lastScavenges(), store.memberCount()])
  const times = [...scavenges?.values() ?? []].map(Number)
  const scavengedAt = times.length > 0 && times.length >= members ? new Date(Math.min(...times)) : undefined
  const { count, oldest } = await unscavenged(pool, scavengedAt)
  if (count === 0) return 'none waits for a scavenge'
  const found = `${count} ${count === 1 ? 'waits' : 'wait'} for a scavenge, the oldest since ${oldest?.toISOString()}`
  if (scavenges) return warning(found, mendUnscavenged)
  return warning(`${found}, unless one was done since: this login may not read $scavenges`, mendUnscavenged)
}
