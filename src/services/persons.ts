// What requests for the data of persons are worked on with.
import { randomUUID } from 'node:crypto'
import { digested, findPerson } from '../../projections/persons.js'
import type { PersonWork } from '../../workers/persons/continue.js'
import { runPersons } from '../../workers/persons/run.js'
import { commandHandler } from '../commands/handle.js'
import { findRequest } from '../commands/person-requests.js'
import { personRequestStream } from '../features/persons/events.js'
import { personRequestDecider } from '../features/persons/model.js'
import { endsWithin } from '../postgres/ends-within.js'
import type { Services } from './services.js'

export type PersonServices =
  Pick<Services, 'pool' | 'streams' | 'positions' | 'keys' | 'phoneHash'> & Pick<PersonWork, 'log'>

/** @param sources what has to have come as far as the request */
export function personWork (
  { pool, streams, positions, keys, phoneHash, log }: PersonServices,
  sources: readonly string[] = ['leads', 'calls', 'deliveries']
): PersonWork {
  const handle = commandHandler(streams)
  return {
    pool,
    keys,
    find: (id) => findRequest(streams, id),
    async end (id, isDone) {
      const now = new Date().toISOString()
      await handle({
        aggregate: personRequestDecider,
        stream: personRequestStream(id),
        decide: (state) => personRequestDecider.decide({ type: 'end', isDone, now }, state),
        origin: { commandId: randomUUID(), correlationId: id }
      })
    },
    hasCome: async (position) => (await areBefore(positions, sources, position)).length === 0,
    known: (snapshot, person, signal) => findPerson(snapshot, digested(person, phoneHash), signal),
    log
  }
}

/** Each look at a source that is behind takes so long, in milliseconds. */
const lookMs = 1_000

/** Which of them have not come as far as the position. */
export async function areBefore (
  positions: Services['positions'], who: readonly string[], position: bigint
): Promise<string[]> {
  const come = await Promise.all(who.map((source) => positions.reached(source, position, lookMs)))
  return who.filter((_source, nth) => !come[nth])
}

/** A part that is being read or written ends by then, or its connection is dead. */
const partWithinMs = 5_000

/** @returns what ends it: what is broken off is begun anew by another process, or by the next start */
export function startPersons (services: Services): () => Promise<void> {
  const stopping = new AbortController()
  const { holder, consumerPool: leasePool } = services
  const running = runPersons({ work: personWork(services), leasePool, holder, signal: stopping.signal })
  return async () => {
    stopping.abort()
    await endsWithin(partWithinMs, running)
  }
}
