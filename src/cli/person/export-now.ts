// Asks for the export of a person and makes it here, unless a worker does.
import { calls } from '../../../projections/calls.js'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { leads } from '../../../projections/leads.js'
import { continueRequests, type PersonWork } from '../../../workers/persons/continue.js'
import { readExport } from '../../../workers/persons/parts.js'
import { mostOfUser, noteRequest, removeRequest } from '../../../workers/persons/requests.js'
import { digestOfNumbers } from '../../services/digest-of-numbers.js'
import type { Connections } from '../../services/connections.js'
import { personWork, type WorkOptions } from '../../services/persons/person-work.js'
import type { PersonRequest } from '../../features/persons/decide.js'
import { pause } from '../../timing/pause.js'
import type { RunOptions } from '../../subscriptions/run.js'
import { appendRequest } from './append-request.js'
import type { NamedPerson } from './named.js'

export interface ExportOptions extends Pick<WorkOptions, 'config'> {
  connections: Connections
  log: RunOptions['log']
}

/** For what a running dispatcher has yet to note; where none runs, there is no more to note. */
const dispatchedWithinMs = 5_000
const madeWithinMs = 5 * 60_000
const lookMs = 200

/** The text of the document, part by part. @throws Error when it was not made */
export async function * exportNow (options: ExportOptions, person: NamedPerson): AsyncGenerator<string, void> {
  const { connections, log } = options
  const { consumerPool: pool, streams } = connections
  const work = personWork({ ...options, sources: ['leads', 'calls'] })
  const stopping = new AbortController()
  const holder = `person export ${process.pid}`
  const projecting = [leads, calls].map((projection) =>
    feedGenerations(projection, { pool, streams, holder, yields: true, signal: stopping.signal, log }))
  try {
    const { id, position } = await request(options, work, person)
    await connections.positions.reached('deliveries', position, dispatchedWithinMs)
    const { status } = await untilEnded(work, id)
    if (status !== 'completed') throw new Error('the export was not made: the log of the worker, or this one, says why')
    yield * readExport(work.pool, work.keys, { id, userId: person.userId })
  } finally {
    stopping.abort()
    await Promise.all(projecting)
  }
}

async function request (
  { config, connections: { streams } }: ExportOptions, { pool, keys }: PersonWork, person: NamedPerson
): Promise<{ id: string, position: bigint }> {
  return await appendRequest(streams, {
    kind: 'export',
    person,
    digest: digestOfNumbers(config),
    async note (id) {
      if (await noteRequest(pool, keys, { id, ...person })) return
      throw new Error(`${mostOfUser} exports of this user are being made or kept, each for a day`)
    },
    async drop (id) { await removeRequest(pool, id) }
  })
}

async function untilEnded (work: PersonWork, id: string): Promise<PersonRequest> {
  const giveUp = AbortSignal.timeout(madeWithinMs)
  while (!giveUp.aborted) {
    const { request } = await work.find(id) ?? {}
    if (request && request.status !== 'processing') return request
    await continueRequests(work, giveUp, id)
    await pause(lookMs, giveUp)
  }
  throw new Error('the export is not made yet: the read models do not come as far as the log, see `ringledger ' +
    'projections list`. A worker that runs goes on with it')
}
