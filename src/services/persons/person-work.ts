// What requests for the data of persons are worked on with.
import { randomUUID } from 'node:crypto'
import { digested, findPerson } from '../../../projections/persons.js'
import type { PersonWork } from '../../../workers/persons/continue.js'
import { commandHandler } from '../../commands/handle-command.js'
import { findRequest } from '../../commands/person/person-requests.js'
import { personRequestDecider } from '../../features/persons/model.js'
import { personRequestStream } from '../../features/persons/events.js'
import { endsWithin } from '../../postgres/ends-within.js'
import { secretKeys, type CompleteConfig } from '../complete-config.js'
import { digestOfNumbers } from '../digest-of-numbers.js'
import type { Connections } from '../connections.js'
import type { Services } from '../services.js'
import { areBefore } from './erasing.js'

export interface WorkOptions {
  config: Pick<CompleteConfig, 'secrets' | 'previousSecretKeys'>
  connections: Pick<Connections, 'pool' | 'streams' | 'positions'>
  /** What has to have come as far as the request. */
  sources?: readonly string[]
  log: PersonWork['log']
}

export function personWork (
  { config, connections: { pool, streams, positions }, sources = ['leads', 'calls', 'deliveries'], log }: WorkOptions
): PersonWork {
  const handle = commandHandler(streams)
  const digest = digestOfNumbers(config)
  return {
    pool,
    keys: secretKeys(config),
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
    known: (snapshot, person, signal) => findPerson(snapshot, digested(person, digest), signal),
    log
  }
}

/** A part that is being read or written ends by then, or its connection is dead. */
const partWithinMs = 5_000

/** @returns what ends it: what is broken off is begun anew by another process, or by the next start */
export async function startPersons (context: Services): Promise<() => Promise<void>> {
  const { runPersons } = await import('../../../workers/persons/run.js')
  const stopping = new AbortController()
  const { holder, connections: { consumerPool: leasePool } } = context
  const running = runPersons({ work: personWork(context), leasePool, holder, signal: stopping.signal })
  return async () => {
    stopping.abort()
    await endsWithin(partWithinMs, running)
  }
}
