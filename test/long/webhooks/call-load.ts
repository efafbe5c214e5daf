// Engines report calls over HTTP and by event while everything is killed, and note what was acknowledged.
import { setTimeout as delay } from 'node:timers/promises'
import {
  jsonEvent, NO_STREAM, WrongExpectedVersionError, type AppendExpectedRevision, type EventStoreDBClient
} from '@eventstore/db-client'
import { uuidV5 } from '../../../src/log/stored.js'
import { callReport } from '../../support/bodies/bodies.js'
import { choices, type Choices } from '@ringledger/embedded-postgres/testing'
import { caller, token } from '../../support/running-service.js'
import { unbatched } from '../../support/back-ends/scratch-event-store.js'
import { secrets } from '../../support/auth/secrets.js'

export interface CallLoad {
  /** Calls that were acknowledged, each by the way it was reported. */
  acknowledged: { byHttp: string[], byEvent: string[] }
  /** Reports that were refused, and those that were not answered and not repeated. */
  refused: string[]
  givenUp: string[]
  /** Further events of calls that had been reported. */
  repeated: number
  /** Resolves when all engines have stopped. Rejects with an answer that no engine should have got. */
  stop (): Promise<void>
}

interface LoadOptions {
  seed: number
  /** Where the API listens now. */
  apiUrl: () => string
  client: EventStoreDBClient
  /** Assistants to report calls of. */
  assistants: readonly number[]
}

const engines = ['http-1', 'http-2', 'event-1', 'event-2']
const paceMs = 200
const againAfterMs = 50
const patienceMs = 15_000
const eventIds = '0d5a4b8c-6f0e-4c7e-9c55-5d2f1d0f3a11'
/** A revision that no stream has. */
const nowhere = 7n

type Report = (callId: string, assistant: number) => Promise<'acknowledged' | 'refused' | 'unanswered'>

/** Two engines of each kind, each one call after the other, until they are stopped. */
export function callLoad ({ seed, apiUrl, client, assistants }: LoadOptions): CallLoad {
  const stopping = new AbortController()
  const load: CallLoad = {
    acknowledged: { byHttp: [], byEvent: [] },
    refused: [],
    givenUp: [],
    repeated: 0,
    async stop () {
      stopping.abort()
      await working
    }
  }
  const working = Promise.all(engines.map(async (name, index) => {
    const given = { name, load, assistants, signal: stopping.signal, chosen: choices(seed + 1 + index) }
    const { byHttp, byEvent } = load.acknowledged
    if (name.startsWith('http')) await reportCalls({ ...given, acknowledged: byHttp, report: reportByHttp(apiUrl) })
    else {
      await reportCalls({
        ...given, acknowledged: byEvent, report: reportByEvent(client), repeat: repeatOn(client, load)
      })
    }
  }))
  working.catch(() => {}) // told by `stop`
  return load
}

interface Engine {
  name: string
  load: CallLoad
  /** Of the load: those that this engine adds to. */
  acknowledged: string[]
  assistants: readonly number[]
  signal: AbortSignal
  chosen: Choices
  report: Report
  /** Reports a call again that was acknowledged. */
  repeat?: (callId: string, assistant: number) => Promise<void>
}

async function reportCalls (engine: Engine): Promise<void> {
  const { name, load, acknowledged, assistants, signal, chosen, report, repeat } = engine
  for (let n = 1; !signal.aborted; n++) {
    const callId = `${name}-${n}`
    const [assistant, givesUp] = [chosen.onceIn(20) ? 0 : chosen.pick(assistants), chosen.onceIn(10)]
    let outcome = await report(callId, assistant)
    while (outcome === 'unanswered' && !givesUp) {
      await delay(againAfterMs)
      outcome = await report(callId, assistant)
    }
    if (outcome === 'acknowledged') acknowledged.push(callId)
    if (outcome === 'acknowledged' && repeat && chosen.onceIn(20)) await repeat(callId, assistant)
    if (outcome === 'refused') load.refused.push(callId)
    if (outcome === 'unanswered') load.givenUp.push(callId)
    await chosen.instant(paceMs)
  }
}

/** Another event of the same call: it counts for nothing. */
const repeatOn = (client: EventStoreDBClient, load: CallLoad) => async (callId: string, assistant: number) => {
  while (await append(client, callId, assistant, 0n) === 'unanswered') await delay(againAfterMs)
  load.repeated++
}

const reportByHttp = (apiUrl: () => string): Report => async (callId, assistant) => {
  const request = { token: await token(secrets.JWT_SECRET, 'engine', 'engine'), body: callReport(assistant) }
  const answer = await caller(apiUrl())('POST', `/engine/calls/${callId}/completed`, request)
    .catch(() => ({ status: 503, body: undefined }))
  if (answer.status === 202) return 'acknowledged'
  if (answer.status === 422 && assistant === 0) return 'refused'
  if (answer.status >= 500) return 'unanswered'
  throw new Error(`the report of ${callId} was answered with ${answer.status} ${JSON.stringify(answer.body)}`)
}

/** A call of no assistant is appended where its stream does not end, and the store refuses that. */
const reportByEvent = (client: EventStoreDBClient): Report => async (callId, assistant) =>
  await append(client, callId, assistant, assistant === 0 ? nowhere : NO_STREAM)

async function append (
  client: EventStoreDBClient, callId: string, assistant: number, expectedRevision: AppendExpectedRevision
): ReturnType<Report> {
  const patience = new AbortController() // the client itself may wait for ever for a server that is gone
  try {
    const late = delay(patienceMs, undefined, { signal: patience.signal }).then(() => { throw new Error('no answer') })
    // The same for a repeated append, so that the store knows it.
    const id = uuidV5(eventIds, `${callId} ${expectedRevision}`)
    const event = jsonEvent({ id, type: 'CallCompleted', data: { call_id: callId, ...callReport(assistant) } })
    const options = { expectedRevision, credentials: unbatched }
    await Promise.race([client.appendToStream(`call-${callId}`, event, options), late])
    return 'acknowledged'
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) return 'unanswered'
    if (expectedRevision === nowhere) return 'refused'
    throw error
  } finally {
    patience.abort()
  }
}
