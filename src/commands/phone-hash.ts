// Turns a phone number into the part of a stream name that does not show it.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { settingsStream } from '../features/leads/events.js'
import { RevisionConflict } from '../log/errors.js'
import { noStream, type Streams } from '../log/event-log.js'

export type PhoneHash = (phoneNumber: string) => string

/** A command asks for the digests of its user and its number several times. In characters. */
const mostKept = 100_000

/** HMAC-SHA256 of the number as accepted, cut to 32 hex digits. */
export function phoneHash (key: Buffer): PhoneHash {
  const digests = new LRUCache<string, string>({
    maxSize: mostKept, sizeCalculation: (digest, text) => digest.length + text.length
  })
  return (phoneNumber) => {
    const known = digests.get(phoneNumber)
    if (known !== undefined) return known
    const digest = createHmac('sha256', key).update(phoneNumber).digest('hex').slice(0, 32)
    digests.set(phoneNumber, digest)
    return digest
  }
}

/** The log was written with another LEAD_DIGEST_KEY: with this one, duplicate leads would not be recognised. */
class OtherLeadDigestKey extends Error {
  override readonly name = 'OtherLeadDigestKey'
}

/**
 * Writes a fingerprint of the key into the log at the first start, and holds later starts to it.
 * @throws OtherLeadDigestKey
 */
export async function holdToLeadDigestKey (streams: Streams, digest: PhoneHash): Promise<void> {
  const fingerprint = digest('LEAD_DIGEST_KEY')
  for (;;) {
    const [chosen] = await streams.read(settingsStream)
    if (chosen) {
      if (fingerprintIn(chosen.data) === fingerprint) return
      throw new OtherLeadDigestKey(
        'LEAD_DIGEST_KEY is not the key that this event log was started with: set the former one, it never changes')
    }
    try {
      const chosen = { type: 'LeadDigestKeyChosen', data: { fingerprint }, metadata: { schema_version: '1' } }
      await streams.append(settingsStream, [{ id: randomUUID(), ...chosen }], noStream)
      return
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
      await delay(50) // another process starts at the same time: read what it wrote
    }
  }
}

function fingerprintIn (data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'fingerprint' in data ? data.fingerprint : undefined
}
