// The streams as everybody in the service has them: what events say of persons is sealed in the log, and plain here.
import type { DomainEvent } from '../domain/events.js'
import { saysOfPersons } from '../domain/sealed.js'
import type { StoredEvent } from '../domain/stored-event.js'
import type { IsUnhurried } from '../log/follow.js'
import { readPart } from '../log/read.js'
import type { Streams } from '../log/event-log.js'
import { openEvents, sealEvents, type SealingOptions } from './events.js'

/** @throws PersonKeyUnreadable, besides what `streams` throw, from what reads and appends */
export function sealedStreams (streams: Streams, { keys, digest }: SealingOptions): Streams {
  const open = (events: readonly StoredEvent[]) => openEvents({ keys }, events)
  return {
    ...streams,
    read: async (...given) => await open(await streams.read(...given)),
    visit: (stream, from, take, mostEvents = Number.MAX_SAFE_INTEGER) => holdsPersons(stream)
      ? visitOpened(streams, open, { stream, from, take, mostEvents })
      : streams.visit(stream, from, take, mostEvents),
    async last (stream) {
      const newest = await streams.last(stream)
      return newest && (await open([newest]))[0]
    },
    append: async (stream, events, expected) =>
      await streams.append(stream, await sealEvents({ keys, digest }, stream, events), expected),
    async * follow (options) {
      if (options.asStored || !options.eventTypes.some(saysOfPersons)) return yield * streams.follow(options)
      // A key is in the log before what is sealed under it: so nobody has to be asked for one that was just made.
      const eventTypes = [...options.eventTypes, ...keyTypes]
      const isUnhurried: IsUnhurried = (event) =>
        isOfKey(event) || options.isUnhurried?.(event) === true // what a key is needed for comes right behind it
      for await (const { events, position } of streams.follow({ ...options, eventTypes, isUnhurried })) {
        keys.learn(events.filter(isOfKey))
        yield { events: await open(events.filter((event) => !isOfKey(event))), position }
      }
    }
  }
}

/** These nobody gets who follows what is said of persons: they are for the streams themselves. */
export const keyTypes: readonly string[] = ['PersonKeyCreated', 'PersonKeyErased'] satisfies Array<DomainEvent['type']>
const isOfKey = ({ type }: Pick<StoredEvent, 'type'>) => keyTypes.includes(type)

const holdsPersons = (stream: string) => /^(lead|blacklist|call)-/.test(stream)

interface Visit { stream: string, from: bigint, take (event: StoredEvent): void, mostEvents: number }

/** Keys are looked up for many events at once, so they wait for each other, in parts that fit into memory. */
async function visitOpened (
  streams: Pick<Streams, 'visit'>, open: (events: readonly StoredEvent[]) => Promise<StoredEvent[]>,
  { stream, from, take, mostEvents }: Visit
): Promise<boolean> {
  let [next, left] = [from, mostEvents]
  for (;;) {
    const { events, isThere, isFull } = await readPart(streams, stream, next, left)
    for (const event of await open(events)) take(event)
    const last = events.at(-1)
    left -= events.length
    if (!isFull || !last || left <= 0) return isThere
    next = last.revision + 1n
  }
}
