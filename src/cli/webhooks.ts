// `ringledger webhooks`: lists the deliveries of all users, and sends them again.
import { changeOptions, findOptions } from '../../workers/deliveries/options.js'
import { findDelivery, listDeliveries } from '../../workers/deliveries/read.js'
import { findWebhook, troubledWebhooks } from '../../workers/deliveries/webhooks.js'
import { audit } from '../../workers/operate/audit.js'
import { recover as recoverDeliveries } from '../../workers/operate/recoveries.js'
import { redeliver as redeliverOne } from '../../workers/operate/redeliver.js'
import { resumeWebhooks } from '../../workers/operate/resume.js'
import { webhookStats } from '../../workers/operate/stats.js'
import { tryDecode } from '../domain/events.js'
import { Rejection } from '../domain/rejection.js'
import { callStream } from '../features/calls/events.js'
import type { Delivery } from '../features/webhooks/model.js'
import type { Outcome } from '../features/webhooks/outcome.js'
import { validateOptions, WebhookOptionsBody } from '../features/webhooks/options.js'
import { refusedBy } from '../http/bodies.js'
import { isDayOrInstant } from '../http/filters.js'
import type { Streams } from '../log/event-log.js'
import { inTransaction } from '../postgres/transaction.js'
import { secretKeys } from '../services/complete-config.js'
import { readText } from '../text-files.js'
import { print, printJson, say, tableOf } from './output.js'
import { withConnections } from './running.js'
import { operate } from './shutdown.js'

interface ListOptions {
  user?: string
  assistant?: number
  call?: string
  status?: Delivery['status']
  reason?: string
  outcome?: Outcome
  statusCode?: number
  limit: number
  json?: boolean
}

export async function list (
  { user: userId, assistant: assistantId, call: callId, limit, json, ...others }: ListOptions
): Promise<void> {
  const { items, total } = await withConnections('ringledger webhooks list', async ({ pool }) => {
    const wanted = { userId, assistantId, callId, ...others }
    const { items, total, next } = await listDeliveries(pool, wanted, { page: 1, perPage: limit })
    for (let after = next; after && items.length < limit;) { // pages are bounded in bytes
      const page = await listDeliveries(pool, wanted, { after, perPage: limit - items.length })
      items.push(...page.items)
      after = page.next
    }
    return { items, total }
  })
  if (json) return printJson(items)
  const head = [
    'delivery', 'call', 'user', 'assistant', 'url', 'type', 'status', 'reason', 'attempts', 'next attempt', 'created'
  ]
  const rows = items.map((each) => [
    each.id, each.call_id ?? '', each.user_id ?? '', each.assistant_id ?? '', each.url ?? '', each.type, each.status,
    each.reason ?? '', each.attempt_count, each.next_attempt_at ?? '', each.created_at
  ])
  print(`${await tableOf(rows, head)}${items.length} of ${total?.isExact === false ? 'more than ' : ''}${total?.count}\n`)
}

export async function show (id: string, { json }: { json?: boolean }): Promise<void> {
  const delivery = await withConnections('ringledger webhooks show', async ({ pool, streams }) => {
    const delivery = await findDelivery(pool, undefined, id)
    if (!delivery || delivery.call_id === null || delivery.reason !== 'invalid') return delivery
    return { ...delivery, problem: await whyInvalid(streams, delivery.call_id) }
  })
  if (!delivery) throw new Error(`there is no delivery ${id}`)
  if (json) return printJson(delivery)
  const { attempts, ...rest } = delivery
  const head = ['trigger', 'n', 'started', 'ms', 'outcome', 'status', 'error']
  const rows = attempts.map(({ trigger, n, started_at, duration_ms, outcome, status_code, error }) =>
    [trigger, n, started_at ?? 'waits', duration_ms ?? '', outcome ?? '', status_code ?? '', error ?? ''])
  const summary = await tableOf(Object.entries(rest).map(([name, value]) => [name, value ?? '']))
  print(summary + await tableOf(rows, head))
}

/** Lists failing and suspended webhooks. */
export async function failing ({ limit, json }: { limit: number, json?: boolean }): Promise<void> {
  const found = await withConnections('ringledger webhooks failing', ({ pool }) =>
    troubledWebhooks(pool, limit, ['suspended', 'failing']))
  if (json) return printJson(found)
  if (found.length === 0) return print('No webhook fails.\n')
  const head = ['user', 'assistant', 'url', 'state', 'since', 'waiting', 'last error']
  print(await tableOf(found.map((each) => [
    each.user_id, each.assistant_id, each.url, each.state, each.since ?? '', each.waiting, each.last_error ?? ''
  ]), head))
}

/** Adds one attempt to each; workers make it. @throws when one cannot be sent, after adding the others */
export async function redeliver (ids: string[], { json }: { json?: boolean }): Promise<void> {
  const accepted: string[] = []
  const refused: string[] = []
  await withConnections('ringledger webhooks redeliver', async ({ pool }) => {
    for (const id of ids) {
      const result = await redeliverOne(pool, id)
      if (result.kind === 'accepted') {
        accepted.push(id)
        if (!json) say(`${id} is sent again, as soon as a worker has a slot for it.`)
      } else refused.push(`${id}: ${result.kind === 'refused' ? result.why : 'there is no such delivery'}`)
    }
  }).finally(() => { if (json) printJson({ accepted, refused }) })
  if (refused.length > 0) throw new Error(`not everything can be sent again\n  ${refused.join('\n  ')}`)
}

/** Reschedules everything undelivered since a time. */
export async function recover (
  { since: from, user: userId, assistant: assistantId, json }:
  { since: string, user?: string, assistant?: number, json?: boolean }
): Promise<void> {
  const since = sinceTime(from)
  const stopped = 'stopped before its end: run the same command again, it goes on'
  const { scheduled, held, off } = await operate(stopped, ({ signal, onProgress }) =>
    withConnections('ringledger webhooks recover', ({ pool }) => recoverDeliveries({
      pool,
      since,
      userId,
      assistantId,
      signal,
      onProgress: ({ found, done }) => { onProgress({ doing: 'recover', events: found, things: 'deliveries', done }) }
    })))
  if (json) return printJson({ scheduled, held, off })
  say(`Scheduled ${scheduled} deliveries for now; the workers send them.`)
  if (held > 0) say(`${held} more are held: their endpoint is suspended, and they are sent when it resumes.`)
  if (off > 0) say(`${off} more were left alone: their users have switched the webhook off.`)
}

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A day, an instant, or how long ago: `90m`, `12h`, `3d`. @throws Error that lists these forms */
export function sinceTime (text: string, now = Date.now()): Date {
  const [, amount, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (amount !== undefined) return new Date(now - Number(amount) * (unitMs[unit] ?? 0))
  if (isDayOrInstant(text)) return new Date(text)
  throw new Error('--since must be a day such as 2026-01-31, an instant such as 2026-01-31T12:00:00Z, ' +
    'or how long ago, 99999 of m, h or d at most, such as 90m, 12h or 3d')
}

interface OptionsOptions { headers?: string, maxPerSecond?: number, clear?: boolean, json?: boolean }

/** Shows or changes the options of a webhook. Headers come from a file: others can read arguments. */
export async function options (
  assistantId: number, { headers, maxPerSecond, clear, json }: OptionsOptions
): Promise<void> {
  if (clear && (headers ?? maxPerSecond) !== undefined) throw new Error('--clear goes with no other change')
  const given = clear ? { headers: {}, max_per_second: null } : readOptions(headers, maxPerSecond)
  const found = await withConnections('ringledger webhooks options', async ({ pool }, _log, config) => {
    const keys = secretKeys(config)
    const webhook = await findWebhook(pool, assistantId)
    if (!webhook) return undefined
    if (Object.keys(given).length === 0) return await findOptions(pool, keys, assistantId)
    return await inTransaction(pool, (tx) => changeOptions(tx, keys, { assistantId, userId: webhook.user_id }, given))
  })
  if (!found) throw new Error(`there is no assistant ${assistantId}`)
  if (json) return printJson(found)
  print(await tableOf([
    ['most attempts a second', found.max_per_second ?? 'any'], ...Object.entries(found.headers)
  ]))
}

/** @throws Error that names each invalid field */
function readOptions (file: string | undefined, most: number | undefined): WebhookOptionsBody {
  const body: WebhookOptionsBody = {
    ...(file !== undefined && { headers: readHeaders(file) }), ...(most !== undefined && { max_per_second: most })
  }
  try {
    const refused = refusedBy(WebhookOptionsBody)(body)
    return validateOptions(Object.keys(refused).length > 0 ? { body, refused } : { body })
  } catch (cause) {
    if (!(cause instanceof Rejection)) throw cause
    const problems = Object.entries(cause.errors ?? {}).map(([field, words]) => `${field} ${words.join('; ')}`)
    throw new Error(problems.join('\n  '), { cause })
  }
}

/** The error must not quote the file: it may hold secrets. */
function readHeaders (file: string): WebhookOptionsBody['headers'] {
  let text: string | undefined
  try {
    text = readText(file)
    return JSON.parse(text)
  } catch (error) {
    throw new Error(text === undefined ? `${file} cannot be read: ${(error as Error).message}` : `${file} is no JSON`)
  }
}

/** Statistics of the delivery log. @throws after printing, when calls in the log have no row there */
export async function stats ({ json }: { json?: boolean }): Promise<void> {
  const found = await operate('stopped before everything was counted', ({ signal }) =>
    withConnections('ringledger webhooks stats', async ({ pool, streams }) =>
      ({ ...await webhookStats(pool), ...await audit({ pool, streams, signal }) })))
  const { statuses, due, suspended_endpoints: suspended, failing_endpoints: failing, calls, rows, unaccounted } = found
  if (json) printJson(found)
  else {
    print(await tableOf([
      ...Object.entries(statuses),
      ['due and waiting', due.waiting],
      ['due and under way', due.under_way],
      ['oldest due', due.oldest ?? 'none'],
      ['suspended endpoints', suspended],
      ['failing endpoints', failing],
      ['calls in the log', calls],
      ['calls in the delivery log', rows],
      ['unaccounted', unaccounted]
    ]))
  }
  if (unaccounted === 0) return
  throw new Error(`${unaccounted} calls are unaccounted for: ` +
    `the log has ${calls} up to the dispatcher's checkpoint, the delivery log has rows for ${rows}`)
}

/** Lets the dispatcher of a restored database continue. */
export async function resume ({ json }: { json?: boolean }): Promise<void> {
  const resumed = await withConnections('ringledger webhooks resume', ({ pool, streams }) => resumeWebhooks(pool, streams))
  if (json) {
    const { position, cancelled } = resumed ?? {}
    printJson(resumed ? { resumed: true, position: String(position), cancelled } : { resumed: false })
  }
  if (!resumed) return say('There is nothing to resume: the delivery log has every call that the last marker knows of.')
  say(`Webhooks go on. Calls up to position ${resumed.position} of the log are recorded as skipped (restored), ` +
    'later ones are sent; ' +
    `of the deliveries that were pending in the restored delivery log, ${resumed.cancelled} were cancelled.`)
}

/** An engine may write events of its own before its report; this is how many are searched. */
const mostEvents = 100

/** Reads the report again and says why it is invalid; undefined when it is gone. @throws EventStoreUnavailable */
async function whyInvalid (streams: Pick<Streams, 'read'>, callId: string): Promise<string | undefined> {
  const events = await streams.read(callStream(callId), 0n, mostEvents)
  const first = events.find(({ type }) => type === 'CallCompleted')
  return first && tryDecode(first).problem
}
