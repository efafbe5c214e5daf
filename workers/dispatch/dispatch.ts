// CallCompleted -> delivery row: decides by the position of the call in the log whether and what to send.
import type { PoolClient } from 'pg'
import type { EventType } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Batch } from '../../src/log/follow.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { dispatcherCheckpoint } from '../../src/recovery/database-state.js'
import { moveCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { Consumer } from '../../src/subscriptions/consumer.js'
import { followSettings } from '../deliveries/follow-settings.js'
import { eraseDeliveries } from '../deliveries/erase.js'
import { AtOnce, type AtOnceOptions } from './at-once.js'
import { dispatchEvent } from './dispatch-event.js'
import { countDuplicates, insertDeliveries, type NewDelivery } from './new-deliveries.js'
import { SkippedInBatch } from './skipped.js'
import { park } from '../../src/subscriptions/park.js'
import { logMalformed, readEvent, type ReadEvent } from './read-event.js'
import { loadState, mostLoaded, TooLarge, type Restored } from './state/load.js'
import { saveState } from './state/save.js'
import type { DispatchState } from './state/state.js'

export interface DispatcherOptions extends AtOnceOptions {
  /** Called after the commit with the users whose deliveries changed. */
  onDispatched (userIds: Iterable<string>): void
  log: { warn (details: object, message: string): void }
}

const consumerName = 'dispatcher'
/** What it takes from the log. */
export const eventTypes = [
  'AssistantCreated', 'AssistantUpdated', 'LeadCreated', 'LeadUpdated', 'LeadStatusChanged', 'LeadErased', 'CampaignCreated',
  'CampaignRenamed', 'PhoneNumberBlacklisted', 'PhoneNumberUnblacklisted', 'CallCompleted', 'CallErased'
]
/** These are only kept for calls to come. */
const deferred: ReadonlySet<string> = new Set<EventType>(
  ['AssistantCreated', 'LeadCreated', 'LeadUpdated', 'LeadStatusChanged', 'CampaignCreated', 'CampaignRenamed'])

/**
 * The subscription that gives every call exactly one row in the delivery log. It keeps what it has to know in
 * tables of its own, so a decision depends only on the log up to the call.
 */
export function dispatcher (options: DispatcherOptions): Consumer {
  return {
    name: consumerName,
    eventTypes,
    isDeferred: ({ type }) => deferred.has(type),
    async open () {
      const atOnce = new AtOnce(options)
      return {
        checkpointTable: dispatcherCheckpoint,
        async write (batch, from, epoch) {
          const written = await atOnce.write(batch, from, epoch)
          if (!written) return options.onDispatched(await writeInTransaction(batch, from, epoch, options))
          const skipped = new SkippedInBatch()
          skipped.note(written.deliveries)
          skipped.committed()
          const changed = usersOf(written.deliveries)
          if (written.given) options.giveSlots?.queueSoon(written.given, changed)
          else options.onDispatched(changed)
        }
      }
    }
  }
}

/** What cannot be written in one statement. @returns the users whose deliveries may be due now */
export async function writeInTransaction (
  { events, position }: Batch, from: bigint, epoch: bigint, options: DispatcherOptions
): Promise<Set<string>> {
  const skipped = new SkippedInBatch()
  const users = await inTransaction(options.pool, async (tx) => {
    await moveCheckpoint(tx, dispatcherCheckpoint, epoch, from, position)
    return await dispatchBatch(tx, events, { ...options, skipped })
  })
  skipped.committed()
  return users
}

type BatchOptions = DispatcherOptions & { skipped: SkippedInBatch }

/** Bodies that wait to be written, in characters. */
const mostUnwritten = 4 * 2 ** 20

/** In halves, where what the events read is too large. @returns the users whose deliveries may be due now */
async function dispatchBatch (
  tx: PoolClient, events: StoredEvent[], options: BatchOptions
): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const read = events.map(readEvent)
  const calls = read.flatMap(({ callId }) => callId ?? [])
  try {
    const most = events.length > 1 ? mostLoaded : undefined
    const { state, restored } = await loadState(tx, read.flatMap(({ event }) => event ?? []), calls, most)
    return await dispatchEvents(tx, read, { state, restored }, options)
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    const middle = Math.ceil(events.length / 2)
    const first = await dispatchBatch(tx, events.slice(0, middle), options)
    return new Set([...first, ...await dispatchBatch(tx, events.slice(middle), options)])
  }
}

async function dispatchEvents (
  tx: PoolClient, read: ReadEvent[], { state, restored }: { state: DispatchState, restored: Restored },
  { firstDelayMs, log, skipped }: BatchOptions
): Promise<Set<string>> {
  const users = new Set<string>()
  const deliveries: NewDelivery[] = []
  let unwritten = 0
  for (const each of read) {
    if (each.problem !== undefined) logMalformed(each, log)
    const { added, parkedFor } = dispatchEvent(state, each, restored.skipUntil)
    deliveries.push(...added)
    skipped.note(added)
    unwritten += lengthOf(added)
    if (unwritten > mostUnwritten) await write()
    if (parkedFor !== undefined) await park(tx, consumerName, each.stored, parkedFor)
    if (each.stored.position <= restored.rereadUntil) state.forgetEffects()
  }
  const settings = [...state.rerouted.values()]
  await saveState(tx, state)
  await write()
  await followSettings(tx, settings)
  await eraseDeliveries(tx, [...state.erased])
  await countDuplicates(tx, state.duplicates) // last: it locks deliveries, and a move locks itself before those
  for (const { user_id } of settings) users.add(user_id)
  return users

  async function write (): Promise<void> {
    unwritten = 0
    const written = deliveries.splice(0)
    await insertDeliveries(tx, written, firstDelayMs)
    for (const user of usersOf(written)) users.add(user)
  }
}

/** Of whom something may be due. */
const usersOf = (deliveries: NewDelivery[]) =>
  new Set(deliveries.flatMap((each) => 'url' in each && each.skipped === undefined ? each.user_id : []))

const lengthOf = (deliveries: NewDelivery[]) =>
  deliveries.reduce((sum, delivery) => sum + ('body' in delivery ? delivery.body.length : 0), 0)
