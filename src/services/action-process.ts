// A process that runs one action on a projection and reports its progress in the ledger. It survives a crash of the API
// that began it; SIGTERM stops it.
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import type { Pool } from 'pg'
import pino from 'pino'
import { endAction, tellEveryMs, tellProgress } from '../../projections/engine/actions.js'
import { operations, type Action, type OperationInput } from '../../projections/engine/operations.js'
import { type Progress, BrokenOff, ReplayRefused, SwapWaits } from '../../projections/engine/replay.js'
import { projections } from '../../projections/index.js'
import { errorSerializer } from '../http/logging.js'
import { OtherLog } from '../log/errors.js'
import type { KeySettings } from './complete-config.js'
import { reasonOf } from './back-end-unreachable.js'
import { openConnections, type Urls } from './connections.js'
import { pause, repeat } from '../timing.js'

/** Sent to stdin as JSON. */
export interface ActionOrder {
  id: string
  action: Action
  projection: string
  input: OperationInput
  urls: Urls
  keys: KeySettings
  logLevel: string
}

const order: ActionOrder = JSON.parse(await text(process.stdin))
void carryOut(order)

async function carryOut ({ id, action, projection: name, input, urls, keys, logLevel }: ActionOrder): Promise<void> {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => { stopping.abort() })
  const options = { level: logLevel, base: null, serializers: { err: errorSerializer } }
  const log = pino(options, pino.destination({ dest: 2, sync: true }))
  const projection = projections.find((known) => known.name === name)
  if (!projection) throw new Error(`there is no projection ${name}`)
  const connections = await openConnections(urls, keys, log)
  const { pool, consumerPool, streams, logGuard: sameLog } = connections
  const telling = keepTelling(pool, id)
  try {
    const { signal } = stopping
    const holder = `${hostname()} ${process.pid} ${action}`
    const outcome = await operations[action].run(projection, {
      pool, consumerPool, streams, sameLog, log, signal, holder, endsWhenPaused: true, ...telling
    }, input)
    await telling.stop()
    await endAction(pool, id, 'done', outcome)
  } catch (error) {
    await telling.stop()
    if (stopping.signal.aborted) return await endAction(pool, id, 'failed', operations[action].stopped)
    if (!isRefusal(error)) log.error({ err: error, action, projection: name }, 'an action on a projection failed')
    await endAction(pool, id, error instanceof SwapWaits ? 'done' : 'failed', reasonOf(error))
  } finally {
    await connections.close()
  }
}

/** The operator gets these as the action's message, so they are not logged. */
const isRefusal = (error: unknown) => [ReplayRefused, BrokenOff, OtherLog].some((each) => error instanceof each)

/** Writes the newest message and progress once a second, even unchanged: a stale row means a dead process. */
function keepTelling (pool: Pool, id: string) {
  let progress: number | null = null
  let message = ''
  const stop = repeat(async (signal) => {
    await pause(tellEveryMs, signal)
    await tellProgress(pool, id, progress, message).catch(() => {}) // the next write has it
  })
  return {
    onProgress ({ doing, events, done }: Progress) {
      progress = done ?? null
      message = events > 0 ? `${doing}: ${events} events` : doing
    },
    say (line: string) { message = line },
    stop
  }
}
