// Engines report calls over HTTP and by event while everything is killed, and note what was acknowledged.
import { setTimeout as delay } from 'node:timers/promises'
import {
  jsonEvent, NO_STREAM, WrongExpectedVersionError, type AppendExpectedRevision, type EventStoreDBClient
} from '@eventstore/db-client'
import { uuidV5 } from '../../../src/log/stored.js'
import { callReport } from '../../support/bodies/bodies.js'
import { choices } from '@ringledger/embedded-postgres/testing'
import { caller, token } from '../../support/running-service.js'
import { unbatched } from '../../support/back-ends/scratch-event-store.js'
import { secrets } from '../../support/auth/secrets.js'

export type CallLoad = ReturnType<typeof callLoad>

interface LoadOptions {
  seed: number
  /** Where the API listens now. */
  apiUrl: () => string
  client: EventStoreDBClient
  /** Assistants to report calls of. */
  assistants: readonly number[]
}

const paceMs = 200
const againAfterMs = 50
const patienceMs = 15_000
const eventIds = '0d5a4b8c-6f0e-4c7e-9c55-5d2f1d0f3a11'
/** A revision that no stream has. */
const nowhere = 7n

type Report = (callId: string, assistant: number) => Promise<'acknowledged' | 'refused' | 'unanswered'>

/** Two engines of each kind, each one call after the other, until they are stopped. */
export function callLoad ({ seed, apiUrl, client, assistants }: LoadOptions) {
  const stopping = new AbortController()
  const acknowledged = { byHttp: [] as string[], byEvent: [] as string[] }
  const [refused, givenUp]: [string[], string[]] = [[], []]
  const reports = { byHttp: reportByHttp(apiUrl), byEvent: reportByEvent(client) }
  const working = Promise.all((['byHttp', 'byHttp', 'byEvent', 'byEvent'] as const).map(async (way, index) => {
    const chosen = choices(seed + 1 + index)
    for (let n = 1; !stopping.signal.aborted; n++) {
      const callId = `${way}-${index}-${n}`
      const [assistant, givesUp] = [chosen.onceIn(20) ? 0 : chosen.pick(assistants), chosen.onceIn(10)]
      let outcome = await reports[way](callId, assistant)
      while (outcome === 'unanswered' && !givesUp) {
        await delay(againAfterMs)
        outcome = await reports[way](callId, assistant)
      }
      const list = { acknowledged: acknowledged[way], refused, unanswered: givenUp }[outcome]
      list.push(callId)
      if (outcome === 'acknowledged' && way === 'byEvent' && chosen.onceIn(20)) await repeat(client, callId, assistant)
      await chosen.instant(paceMs)
    }
  }))
  working.catch(() => {}) // told by `stop`
  return {
    /** Calls that were acknowledged, each by the way it was reported. */
    acknowledged,
    refused,
    /** Not answered, and not repeated. */
    givenUp,
    /** Resolves when all engines have stopped. Rejects with an answer that no engine should have got. */
    async stop (): Promise<void> {
      stopping.abort()
      await working
    }
  }
}

/** Another event of the same call: it counts for nothing. */
async function repeat (client: EventStoreDBClient, callId: string, assistant: number): Promise<void> {
  while (await append(client, callId, assistant, 0n) === 'unanswered') await delay(againAfterMs)
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
