// Asks for the erasure of a person and does it here, unless a worker does.
import type { Pool } from 'pg'
import { calls } from '../../../projections/calls.js'
import { catalog } from '../../../projections/catalog.js'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { leads } from '../../../projections/leads.js'
import { acceptRequest, dropPrepared, progressOf } from '../../../workers/background/requests.js'
import { giveTurn } from '../../../workers/background/turns.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { erasures, parkedEvents } from '../../../workers/persons/erasures/erasures.js'
import type { ErasureProgress } from '../../../workers/persons/erasures/progress.js'
import { erasureKind, prepareErasure } from '../../../workers/persons/erasures/request.js'
import { findRequest } from '../../commands/person/person-requests.js'
import { secretKeys, type CompleteConfig } from '../../services/complete-config.js'
import { digestOfNumbers } from '../../services/digest-of-numbers.js'
import { erasureWork } from '../../services/persons/erasures.js'
import { parseSchedule } from '../../features/webhooks/schedule.js'
import { BehindLog, explainBehind, readDatabaseState } from '../../recovery/database-state.js'
import { pause } from '../../timing/pause.js'
import { runSubscription } from '../../subscriptions/run.js'
import { appendRequest } from './append-request.js'
import type { ExportOptions } from './export-now.js'
import type { NamedPerson } from './named.js'

const doneWithinMs = 10 * 60_000
const lookMs = 200
const turnMs = 2_000
const retryMs = 1_000

export interface EraseOptions extends ExportOptions {
  config: ExportOptions['config'] & Pick<CompleteConfig, 'webhook'>
}

/** @returns the id of its request @throws Error when it was not done in time, or failed for good */
export async function eraseNow (options: EraseOptions, person: NamedPerson): Promise<string> {
  const { config, connections, log } = options
  const { consumerPool: pool, streams } = connections
  const behind = explainBehind(await readDatabaseState(pool, streams))
  if (behind !== undefined) throw new BehindLog(behind)
  const stopping = new AbortController()
  const { signal } = stopping
  const holder = `person erase ${process.pid}`
  const following = follow({ ...options, pool, holder, signal })
  try {
    const id = await request(options, person)
    const kinds = { [erasureKind]: erasures(erasureWork({ config, connections, log })) }
    const giveUp = AbortSignal.timeout(doneWithinMs)
    while (!giveUp.aborted) {
      const { request } = await findRequest(streams, id) ?? {}
      if (request?.status === 'completed') return id
      if (request?.status === 'failed') throw new Error('the erasure failed: the log of the worker, or this one, says why')
      await giveTurn({ pool, kinds, holder, turnMs, retryMs, signal: giveUp, log }, id)
      const { waits_for: waitsFor = '' } = await progressOf<ErasureProgress>(pool, id) ?? {}
      if (waitsFor.startsWith(parkedEvents)) throw new Error(`the erasure goes on once a worker can: it waits for ${waitsFor}`)
      await pause(lookMs, giveUp)
    }
    throw new Error('the erasure is not done yet: a worker that runs goes on with it')
  } finally {
    stopping.abort()
    await Promise.all(following)
  }
}

/** As long as no role does: the read models, and which calls have a webhook. Nothing is sent here. */
function follow (
  { config, connections: { streams }, pool, holder, signal, log }:
  EraseOptions & { pool: Pool, holder: string, signal: AbortSignal }
): Promise<void>[] {
  const options = { pool, streams, holder, yields: true, signal, log }
  const [firstDelayMs = 0] = parseSchedule(config.webhook.schedule)
  const dispatching = dispatcher({ pool, firstDelayMs, onDispatched () {}, log })
  return [
    ...[leads, calls, catalog].map((projection) => feedGenerations(projection, options)),
    runSubscription(dispatching, options)
  ]
}

async function request (
  { config, connections: { pool, streams } }: ExportOptions, person: NamedPerson
): Promise<string> {
  const { id } = await appendRequest(streams, {
    kind: 'erasure',
    person,
    digest: digestOfNumbers(config),
    async note (id) {
      if (await prepareErasure(pool, secretKeys(config), { id, ...person })) return
      throw new Error('a hundred erasures of this user are under way')
    },
    async drop (id) { await dropPrepared(pool, id) }
  })
  await acceptRequest(pool, id)
  return id
}
