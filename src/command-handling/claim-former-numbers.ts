// Claims the phone numbers of a log from before there were claims, once: of several with one number the first gets it.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { tryDecode } from '../domain/events.js'
import { settingsStream } from '../domain/lead/digest-key.js'
import { Rejection } from '../domain/rejection.js'
import { RevisionConflict } from '../event-store/errors.js'
import { noStream, type Streams } from '../event-store/streams.js'
import type { Claimant, PhoneClaims } from './phone-claims.js'

const done = 'PhoneNumbersClaimed'

/** A number that its user has in an older log, and that another holds. */
export interface NotHeld { phone_number_id: number, user_id: string }

export interface FormerNumbers {
  streams: Streams
  claims: PhoneClaims
  log: { warn (details: object, message: string): void }
}

/** As many are kept in the log. */
const mostKept = 1_000
const atOnce = 20

/**
 * Comes before the first request. The log itself says that it is done, so a later start reads one short stream; a start
 * that ends before goes on in the next one, as a number is claimed under its id however often.
 * @throws StreamBusy and the errors of `Streams`
 */
export async function claimFormerNumbers ({ streams, claims, log }: FormerNumbers): Promise<void> {
  if (await readNotHeld(streams)) return
  const cause = { correlationId: randomUUID() }
  const notHeld: NotHeld[] = []
  const numbers = [...byNumber(await formerNumbers(streams)).values()]
  for (let at = 0; at < numbers.length; at += atOnce) {
    await Promise.all(numbers.slice(at, at + atOnce).map((claimants) => claimInTurn(claimants)))
  }
  for (const each of notHeld) log.warn(each, 'a phone number of an older log is not held: another had it first')
  await note(streams, notHeld.slice(0, mostKept))

  async function claimInTurn (claimants: Claimant[]): Promise<void> {
    for (const claimant of claimants) {
      const { phone_number_id, user_id } = claimant
      if (!await isClaimed(claims, claimant, cause)) notHeld.push({ phone_number_id, user_id })
    }
  }
}

async function isClaimed (claims: PhoneClaims, claimant: Claimant, cause: { correlationId: string }): Promise<boolean> {
  try {
    await claims.claim(claimant, cause)
    return true
  } catch (error) {
    if (error instanceof Rejection) return false
    throw error
  }
}

/** What was found then; nothing before it was looked for. @throws EventStoreUnavailable */
export async function readNotHeld (streams: Pick<Streams, 'read'>): Promise<NotHeld[] | undefined> {
  const found = (await streams.read(settingsStream)).find(({ type }) => type === done)?.data
  const kept: unknown = typeof found === 'object' && found !== null && 'not_held' in found ? found.not_held : undefined
  return found === undefined ? undefined : Array.isArray(kept) ? kept : []
}

const never = new AbortController().signal

/** In the order of the log, without those that were released. */
async function formerNumbers ({ head, follow }: Streams): Promise<Claimant[]> {
  const found = new Map<number, Claimant>()
  const end = await head()
  if (end === 0n) return []
  for await (const { events, position } of follow({
    after: 0n, eventTypes: ['PhoneNumberAdded', 'PhoneNumberReleased'], signal: never
  })) {
    for (const stored of events) {
      const { event } = tryDecode(stored) // one that cannot be read has no row either
      if (event?.type === 'PhoneNumberAdded') found.set(event.data.phone_number_id, event.data)
      if (event?.type === 'PhoneNumberReleased') found.delete(event.data.phone_number_id)
    }
    if (position >= end) break
  }
  return [...found.values()]
}

function byNumber (claimants: Claimant[]): Map<string, Claimant[]> {
  const groups = new Map<string, Claimant[]>()
  for (const claimant of claimants) {
    groups.set(claimant.phone_number, [...groups.get(claimant.phone_number) ?? [], claimant])
  }
  return groups
}

async function note (streams: Streams, notHeld: NotHeld[]): Promise<void> {
  const event = { id: randomUUID(), type: done, data: { not_held: notHeld }, metadata: { schema_version: '1' } }
  for (;;) {
    const last = await streams.last(settingsStream) // before the look: what comes after it conflicts
    if (await readNotHeld(streams)) return
    try {
      await streams.append(settingsStream, [event], last?.revision ?? noStream)
      return
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
      await delay(50) // another process starts at the same time
    }
  }
}
