// Reports which back end did not answer at the start, and which setting leads to it.

import { eachHost, placeOf } from '../log/client-url.js'
import { EventStoreConnection } from '../log/connection.js'
import { AccessRefused, readError, reasonOf as whyOf } from '../log/errors.js'
import { EventLog } from '../log/event-log.js'
import { OtherVersion } from '../postgres/migrate.js'
import { postgresProblem } from '../postgres/in-words.js'
import { withTimeout } from '../timing.js'

class BackEndUnreachable extends Error {
  override readonly name = 'BackEndUnreachable'
}

/** Where a back end is, its name, and the setting that leads to it. */
interface Way { url: string, what?: string, setting?: string }

/** @throws BackEndUnreachable with the reason, the address and the fix, unless the error already has them */
function unreachable ({ url, what, setting }: Required<Way>, cause: unknown, words?: string): never {
  if (cause instanceof BackEndUnreachable || cause instanceof OtherVersion) throw cause
  const problem = words ?? `${what} did not answer: ${reasonOf(cause)}. Check that it runs and that ${setting} leads to it.`
  const place = placeOf(url)
  const isSaid = problem.includes(place.replace(/[,/].*/, ''))
  throw new BackEndUnreachable(isSaid ? problem : problem.replace('. ', ` (at ${place}). `), { cause })
}

/** @throws BackEndUnreachable when `answer` fails, with the reason and the fix */
export async function reachablePostgres<Answer> (
  url: string, answer: () => Promise<Answer>
): Promise<Answer> {
  try {
    return await answer()
  } catch (cause) {
    return unreachable({ url, what: 'Postgres', setting: 'DATABASE_URL' }, cause, postgresProblem(cause))
  }
}

/** A host name with several addresses fails once per address, and the AggregateError has no message of its own. */
export function reasonOf (cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ')
  return cause instanceof Error ? cause.message : String(cause)
}

/**
 * Reads the head of the log, as the first call to the event store.
 * @throws BackEndUnreachable with the reason in words; for a cluster, one for each host of the URL
 */
export async function reachableHead (way: Way, head: () => Promise<bigint>): Promise<bigint> {
  const { url, what = 'The event store', setting = 'EVENTSTORE_URL' } = way
  try {
    return await head()
  } catch (cause) {
    const reason = await reasonAt(url, cause)
    const words = readError(cause) instanceof AccessRefused ? refusedBy(what, reason, setting) : undefined
    return unreachable({ url, what, setting }, new Error(reason, { cause }), words)
  }
}

const refusedBy = (what: string, reason: string, setting: string) =>
  `${what} refuses access: ${reason}. Check the login of ${setting} and its rights, which docs/eventstoredb.md lists.`

async function reasonAt (url: string, cause: unknown): Promise<string> {
  const hosts = eachHost(url)
  const reasons = hosts.length > 1 || url.includes('+discover') ? await Promise.all(hosts.map(whyNot)) : []
  return reasons.filter((reason) => reason !== undefined).join('; ') || whyOf(cause)
}

/** The client does not say why a discovery found no member, so this asks each host separately. */
async function whyNot (url: string): Promise<string | undefined> {
  const connection = new EventStoreConnection(url)
  try {
    await new EventLog(connection, { answerWithinMs: askedWithinMs }).head()
    return undefined
  } catch (error) {
    return `${/([^@/]*?)\/?(?:\?|$)/.exec(url.replace(/^.*?:\/\//, ''))?.[1] ?? ''}: ${whyOf(error)}`
  } finally {
    await connection.close()
  }
}

const askedWithinMs = 2_000

/** Tolerates a Redis that is away, as it may come back; a missing database does not. @throws BackEndUnreachable */
export async function refuseLackingRedis (url: string): Promise<void> {
  const [{ Redis }, { whyAway }] = await Promise.all([
    import('ioredis'), import('../../workers/queue/redis-trouble.js')
  ])
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: askedWithinMs, retryStrategy: () => null })
  redis.on('error', () => {}) // its users report that
  const selected = redis.connect().then(() => redis.select(redis.options.db ?? 0))
  const late = () => new Error('no answer')
  const answer = await withTimeout(askedWithinMs, selected, late).catch((error: unknown) => error)
  redis.disconnect()
  const { found, mend } = whyAway(url, answer)
  if (/has no such database/.test(found)) throw new BackEndUnreachable(`${found}. ${mend}`)
}
