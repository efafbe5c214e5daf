// Which numbers a user does not want called: from the streams themselves, so that no answer rests on a read model.
import { blacklistDecider, isListed, type EntryState } from '../../domain/blacklist/decide.js'
import { blacklistStream } from '../../domain/blacklist/events.js'
import type { Listed } from '../../domain/blacklist/listed.js'
import type { Streams } from '../../event-store/streams.js'
import { emptyStream, withNext } from '../folded-stream.js'
import type { PhoneHash } from '../phone-hash.js'

export interface Blacklists {
  /** The stream that says whether this user may have this number called. */
  streamOf (userId: string, phoneNumber: string): string
  /** Those of the numbers that are listed: what was appended before counts. @throws EventStoreUnavailable */
  listed (userId: string, phoneNumbers: readonly string[]): Promise<Listed>
}

/** One read a number, of its newest event, all of them at once: a lead has eleven numbers at most. */
export function openBlacklists (streams: Pick<Streams, 'last' | 'visit'>, digest: PhoneHash): Blacklists {
  const streamOf = (userId: string, phoneNumber: string) => blacklistStream(digest(userId), digest(phoneNumber))
  return {
    streamOf,
    async listed (userId, phoneNumbers) {
      const numbers = [...new Set(phoneNumbers)]
      const found = await Promise.all(numbers.map((number) => isListedIn(streams, streamOf(userId, number))))
      return new Set(numbers.filter((_, index) => found[index]))
    }
  }
}

/** The newest event says it where it is the entry; else the whole stream does, which few numbers have. */
async function isListedIn (streams: Pick<Streams, 'last' | 'visit'>, stream: string): Promise<boolean> {
  const newest = await streams.last(stream)
  if (!newest) return false
  if (newest.type === 'PhoneNumberBlacklisted') return true
  let folded = emptyStream<EntryState>(blacklistDecider)
  await streams.visit(stream, 0n, (stored) => { folded = withNext(blacklistDecider, folded, stored) })
  return isListed(folded.state)
}
