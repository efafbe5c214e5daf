// Which numbers a user does not want called: from the streams themselves, where Postgres does not rule an entry out.
import { blacklistStream } from '../features/blacklist/events.js'
import { blacklistDecider, isListed, type Listed } from '../features/blacklist/model.js'
import type { Streams } from '../log/event-log.js'
import { foldStream } from './handle.js'
import type { PhoneHash } from './phone-hash.js'

export interface Blacklists extends Pick<NotedEntries, 'note'> {
  /** The stream that says whether this user may have this number called. */
  streamOf (userId: string, phoneNumber: string): string
  /** Those of the numbers that are listed: what was appended before counts. @throws EventStoreUnavailable */
  listed (userId: string, phoneNumbers: readonly string[]): Promise<Listed>
}

/** One read of the newest event for each number that may have an entry, all at once: a lead has eleven at most. */
export function openBlacklists (
  streams: Pick<Streams, 'last' | 'visit'>, digest: PhoneHash, noted: NotedEntries
): Blacklists {
  const streamOf = (userId: string, phoneNumber: string) => blacklistStream(digest(userId), digest(phoneNumber))
  return {
    streamOf,
    note: noted.note,
    async listed (userId, phoneNumbers) {
      const numbers = new Map(phoneNumbers.map((number) => [streamOf(userId, number), number]))
      const found = await Promise.all((await noted.mayHaveEntry([...numbers.keys()])).map(async (stream) =>
        await isListedIn(streams, stream) ? [numbers.get(stream) ?? ''] : []))
      return new Set(found.flat())
    }
  }
}

/** The newest event says it where it is the entry; else all that can be read does, which few numbers have. */
async function isListedIn (streams: Pick<Streams, 'last' | 'visit'>, stream: string): Promise<boolean> {
  const newest = await streams.last(stream)
  if (!newest) return false
  if (newest.type === 'PhoneNumberBlacklisted') return true
  return isListed((await foldStream(streams, { ...blacklistDecider, skipsUnreadable: true }, stream)).state)
}

interface NotedEntries {
  /** To be awaited before the event of an entry is appended to the stream. */
  note: (stream: string) => Promise<void>
  /** Those of the streams that may have an entry. One that was noted before this was asked is always among them. */
  mayHaveEntry (streams: readonly string[]): Promise<string[]>
}
