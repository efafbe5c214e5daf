// `ringledger person`: exports or erases what is known of a person, as their user would request it.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import { calls } from '../../projections/calls.js'
import { catalog } from '../../projections/catalog.js'
import { feedGenerations } from '../../projections/engine/feed.js'
import { leads } from '../../projections/leads.js'
import { acceptRequest, dropPrepared, progressOf } from '../../workers/work/requests.js'
import type { BackgroundKinds } from '../../workers/work/kind.js'
import { giveTurn } from '../../workers/work/run.js'
import { dispatcher } from '../../workers/dispatch/dispatch.js'
import { erasures, type ErasureProgress } from '../../workers/persons/erasures.js'
import { parkedEvents } from '../../workers/persons/of-person.js'
import { erasureKind, exportKind, mostOfUser, preparePersonRequest } from '../../workers/persons/erasure-rows.js'
import { personExports, readExport } from '../../workers/persons/exports.js'
import { commandHandler } from '../commands/handle.js'
import { findRequest } from '../commands/person-requests.js'
import { PhoneClaims, holdToLeadDigestKey } from '../commands/phone-numbers.js'
import { isPhoneNumber, notE164 } from '../domain/json.js'
import { personRequestDecider } from '../features/persons/model.js'
import { personRequestStream, type PersonRequestType } from '../features/persons/events.js'
import { parseSchedule } from '../features/webhooks/outcome.js'
import { isSubject } from '../http/credentials.js'
import { AppendOutcomeUnknown } from '../log/errors.js'
import { BehindLog, explainBehind, readDatabaseState } from '../recovery/markers.js'
import type { CompleteConfig } from '../services/complete-config.js'
import type { Connections } from '../services/connections.js'
import { runSubscription } from '../subscriptions/run.js'
import { pause } from '../timing.js'
import { print, printJson } from './output.js'
import { withConnections } from './running.js'

const lookMs = 200

interface Scene extends Connections {
  log: Logger
  config: CompleteConfig
  person: { userId: string, phoneNumber: string }
}

/** Validates the person, connects, and runs `work`. @throws Error in words for the terminal */
async function withPerson<Result> (
  command: string, phoneNumber: string, userId: string, work: (scene: Scene) => Promise<Result>
): Promise<Result> {
  if (!isPhoneNumber(phoneNumber)) throw new Error(`<phone> ${notE164}`)
  if (!isSubject(userId)) throw new Error('--user must be 1 to 128 printable characters')
  return await withConnections(`ringledger person ${command}`, (connections, log, config) =>
    work({ ...connections, log, config, person: { userId, phoneNumber } }))
}

/**
 * Requests like the routes: notes the request for the workers, then appends its event.
 * @throws Error for a number of the user's own, and when too many are under way; the errors of an append
 */
async function request (
  kind: PersonRequestType, { pool, keys, streams, phoneHash: digest, person: { userId, phoneNumber } }: Scene,
  tooMany: string
): Promise<{ id: string, position: bigint }> {
  const id = randomUUID()
  await holdToLeadDigestKey(streams, digest)
  const handle = commandHandler(streams)
  if (await new PhoneClaims(handle, digest).isOwn(userId, phoneNumber, { correlationId: id })) {
    throw new Error(`<phone> is one of the phone numbers of user ${userId}, and no person`)
  }
  if (!await preparePersonRequest(pool, keys, kind, { id, userId, phoneNumber })) throw new Error(tooMany)
  const now = new Date().toISOString()
  const command = { type: 'request', kind, userId, number_digest: digest(phoneNumber), commandId: id, now } as const
  const { position } = await handle({
    aggregate: personRequestDecider,
    stream: personRequestStream(id),
    decide: (state) => personRequestDecider.decide(command, state),
    origin: { commandId: id, correlationId: id }
  }).catch(async (error: unknown) => {
    if (!(error instanceof AppendOutcomeUnknown)) await dropPrepared(pool, id)
    throw error
  })
  await acceptRequest(pool, id)
  return { id, position }
}

const turnMs = 2_000
const retryMs = 1_000

/** Runs the request here, unless a worker does. @returns whether it succeeded @throws Error of `lateWords` */
async function untilEnded (
  { log, consumerPool: pool, streams }: Scene, id: string, kinds: BackgroundKinds, withinMs: number, lateWords: string
): Promise<boolean> {
  const holder = `person ${process.pid}`
  const giveUp = AbortSignal.timeout(withinMs)
  while (!giveUp.aborted) {
    const { request } = await findRequest(streams, id) ?? {}
    if (request && request.status !== 'processing') return request.status === 'completed'
    await giveTurn({ pool, kinds, holder, turnMs, retryMs, signal: giveUp, log }, id)
    const { waits_for: waitsFor = '' } = await progressOf<ErasureProgress>(pool, id) ?? {}
    if (waitsFor.startsWith(parkedEvents)) {
      throw new Error(`the ${request?.type ?? 'request'} goes on once a worker can: it waits for ${waitsFor}`)
    }
    await pause(lookMs, giveUp)
  }
  throw new Error(lateWords)
}

/** How long to wait until a running dispatcher has caught up. Without one, no delivery is missing. */
const dispatchedWithinMs = 5_000
const madeWithinMs = 5 * 60_000

export async function exportPerson (phoneNumber: string, { user }: { user: string }): Promise<void> {
  await withPerson('export', phoneNumber, user, async (scene) => {
    await pipeline(Readable.from(exportNow(scene)), process.stdout, { end: false })
  })
}

/** Yields the document in parts. @throws Error when it was not made */
async function * exportNow (scene: Scene): AsyncGenerator<string, void> {
  const { pool, consumerPool, streams, positions, keys, log, person } = scene
  const stopping = new AbortController()
  const holder = `person export ${process.pid}`
  const projecting = feedGenerations([leads, calls], {
    pool: consumerPool, streams, holder, yields: true, signal: stopping.signal, log
  })
  try {
    const tooMany = `${mostOfUser} exports of this user are being made or kept, each for a day`
    const { id, position } = await request('export', scene, tooMany)
    await positions.reached('deliveries', position, dispatchedWithinMs)
    const kinds = { [exportKind]: personExports({ ...scene, sources: ['leads', 'calls'] }) }
    const isMade = await untilEnded(scene, id, kinds, madeWithinMs, notMadeYet)
    if (!isMade) throw new Error('the export was not made: the log of the worker, or this one, says why')
    yield * readExport(pool, keys, { id, userId: person.userId })
  } finally {
    stopping.abort()
    await projecting
  }
}

const notMadeYet = 'the export is not made yet: the read models do not come as far as the log, see `ringledger ' +
  'projections list`. A worker that runs goes on with it'

const doneWithinMs = 10 * 60_000

/** Erases a person from everything that a user has, here, unless a worker does. */
export async function erase (phoneNumber: string, { user, json }: { user: string, json?: boolean }): Promise<void> {
  const id = await withPerson('erase', phoneNumber, user, eraseNow)
  if (json) printJson({ id, status: 'completed' })
  else print('The person is erased. docs/privacy.md says what is left to do with backups.\n')
}

/** @returns the id of its request @throws Error when it was not done in time, or failed for good */
async function eraseNow (scene: Scene): Promise<string> {
  const { consumerPool: pool, streams } = scene
  const behind = explainBehind(await readDatabaseState(pool, streams))
  if (behind !== undefined) throw new BehindLog(behind)
  const stopping = new AbortController()
  const holder = `person erase ${process.pid}`
  const following = follow(scene, holder, stopping.signal)
  try {
    const { id } = await request('erasure', scene, 'a hundred erasures of this user are under way')
    const kinds = { [erasureKind]: erasures(scene) }
    const late = 'the erasure is not done yet: a worker that runs goes on with it'
    const isDone = await untilEnded(scene, id, kinds, doneWithinMs, late)
    if (!isDone) throw new Error('the erasure failed: the log of the worker, or this one, says why')
    return id
  } finally {
    stopping.abort()
    await Promise.all(following)
  }
}

/** Runs projections and the dispatcher as long as no role does, to learn which calls have a webhook. Sends nothing. */
function follow (
  { config, consumerPool: pool, streams, log }: Scene, holder: string, signal: AbortSignal
): Promise<void>[] {
  const options = { pool, streams, holder, yields: true, signal, log }
  const [firstDelayMs = 0] = parseSchedule(config.webhook.schedule)
  const dispatching = dispatcher({ pool, firstDelayMs, wake () {}, log })
  return [
    feedGenerations([leads, calls, catalog], options),
    runSubscription(dispatching, options)
  ]
}
