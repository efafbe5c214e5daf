// Says which back end did not answer at the start, and which setting leads to it.

import { eachHost } from '../log/connection/client-url.js'
import { reasonOf as whyOf } from '../log/connection/causes.js'
import { EventStoreConnection } from '../log/connection/connection.js'
import { AccessRefused, readError } from '../log/errors.js'
import { openStreams } from '../log/streams.js'
import { OtherVersion } from '../postgres/migrate.js'
import { postgresProblem } from '../postgres/problems/in-words.js'

/** A back end did not answer at the start. */
export class BackEndUnreachable extends Error {
  override readonly name = 'BackEndUnreachable'
}

/** @throws BackEndUnreachable when `answer` fails, with its reason and the setting that leads there */
export async function reachable<Answer> (what: string, setting: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof BackEndUnreachable || cause instanceof OtherVersion) throw cause
    const problem = `${what} did not answer: ${reasonOf(cause)}`
    throw new BackEndUnreachable(`${problem}. Check that it runs and that ${setting} leads to it.`, { cause })
  }
}

/** @throws BackEndUnreachable when `answer` fails, with what Postgres or the way to it says, and what mends that */
export async function reachablePostgres<Answer> (answer: Promise<Answer>, setting = 'DATABASE_URL'): Promise<Answer> {
  return await reachable('Postgres', setting, answer.catch((cause: unknown) => {
    const problem = postgresProblem(cause, setting)
    throw problem === undefined ? cause : new BackEndUnreachable(problem, { cause })
  }))
}

/** A host name with several addresses fails once for each, and the error around them says nothing. */
export function reasonOf (cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ')
  return cause instanceof Error ? cause.message : String(cause)
}

/** The way to an event store, and what leads there. */
interface Way { url: string, what?: string, setting?: string }

/**
 * The end of the log, as the first question to the event store.
 * @throws BackEndUnreachable, with what is wrong in words: of a cluster, for each host of the URL
 */
export async function reachableHead (way: Way, head: () => Promise<bigint>): Promise<bigint> {
  const { url, what = 'The event store', setting = 'EVENTSTORE_URL' } = way
  return await reachable(what, setting, head().catch(async (cause: unknown) => {
    const reason = await reasonAt(url, cause)
    if (!(readError(cause) instanceof AccessRefused)) throw new Error(reason, { cause })
    throw new BackEndUnreachable(refusedBy(what, reason, setting), { cause })
  }))
}

const refusedBy = (what: string, reason: string, setting: string) =>
  `${what} refuses access: ${reason}. Check the login of ${setting} and its rights, which docs/eventstoredb.md lists.`

async function reasonAt (url: string, cause: unknown): Promise<string> {
  const hosts = eachHost(url)
  const reasons = hosts.length > 1 || url.includes('+discover') ? await Promise.all(hosts.map(whyNot)) : []
  return reasons.filter((reason) => reason !== undefined).join('; ') || whyOf(cause)
}

/** The client does not say why a discovery found nobody, so each host is asked alone. */
async function whyNot (url: string): Promise<string | undefined> {
  const connection = new EventStoreConnection(url)
  try {
    await openStreams(connection, { answerWithinMs: askedWithinMs }).head()
    return undefined
  } catch (error) {
    return `${/([^@/]*?)\/?(?:\?|$)/.exec(url.replace(/^.*?:\/\//, ''))?.[1] ?? ''}: ${whyOf(error)}`
  } finally {
    await connection.close()
  }
}

const askedWithinMs = 2_000
