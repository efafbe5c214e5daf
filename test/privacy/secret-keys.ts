// Processes with one SECRET_KEY or another, on one log and one ledger, and what is stored of persons' keys.
import { personKeyStream } from '../../src/domain/sealed.js'
import { EventLog } from '../../src/log/event-log.js'
import { PersonKeys, type KeyName } from '../../src/privacy/person-keys.js'
import { resealKeys, type ResealKeysOptions } from '../../src/privacy/rewrap.js'
import { collect, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import type { Teardown } from '../support/teardown.js'

/** In the order in which they were in use. */
export const [first, second, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]

let persons = 0
const somebodies = (count: number) => Array.from({ length: count }, () => `user-+1555${++persons}`)

const digest = (text: string) => text.replaceAll('-', '_')

export async function secretKeyRig (t: Teardown) {
  const { connection, client } = await scratchEventStore(t)
  const [streams, { pool }] = [new EventLog(connection), await scratchLedger(t)]
  /** Another process: nothing is in its memory. */
  const keysOf = (current: Buffer, ...previous: Buffer[]) =>
    new PersonKeys({ pool, streams, secretKeys: { current, previous }, digest })

  /** Once they are noted in the ledger, for which nobody else waits. */
  async function made (current: Buffer, count = 1) {
    const names = somebodies(count)
    const keys = [...(await keysOf(current).toSealFor(names)).values()]
    const noted = () => pool.query('SELECT FROM ledger.person_keys WHERE person = ANY ($1)', [names])
    await eventually(async () => (await noted()).rowCount === count)
    return keys
  }
  /** What the files of the store hold of a person, after a scavenge. */
  async function stored (person: string): Promise<string> {
    await streams.scavenge()
    const events = (await collect(client.readAll())).map(({ event }) => JSON.stringify([event?.streamId, event?.data]))
    return String(events.filter((event) => event.startsWith(`["${personKeyStream(person)}"`)))
  }

  return {
    pool,
    streams,
    keysOf,
    made,
    stored,
    openIn: async (keys: PersonKeys, name: KeyName) => (await keys.toOpen([name])).get(name.keyId),
    resealTo: (current: Buffer, previous: Buffer[], given: Partial<ResealKeysOptions> = {}) => resealKeys({
      pool, streams, secretKeys: { current, previous }, signal: new AbortController().signal, ...given
    }),
    forgetLedger: () => pool.query('DELETE FROM ledger.person_keys'),
    visible: (person: string) => streams.read(personKeyStream(person))
  }
}
