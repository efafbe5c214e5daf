// Engines that report calls over HTTP and by event while everything is killed around them, and note what was acknowledged.
import { setTimeout as delay } from 'node:timers/promises'
import { jsonEvent, NO_STREAM, WrongExpectedVersionError, type AppendExpectedRevision, type EventStoreDBClient } from '@eventstore/db-client'
import { uuidV5 } from '../../src/event-store/event-id.js'
import { callReport } from './bodies.js'
import { choices, type Choices } from './chaos.js'
import { caller, token } from './running-service.js'
import { unbatched } from './scratch-event-store.js'
import { secrets } from './secrets.js'

export interface CallLoad {
  /** Calls that were acknowledged, each by the way it was reported. */
  acknowledged: { byHttp: string[], byEvent: string[] }
  /** Reports that were refused, and those that nobody answered and that were not repeated. */
  refused: string[]
  givenUp: string[]
  /** Further events of calls that had been reported. */
  repeated: number
  /** Resolves when everybody has stopped. Rejects with what none of them should have been answered. */
  stop (): Promise<void>
}

export interface LoadOptions {
  seed: number
  /** Where the API is just now. */
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
/** No stream is that long. */
const nowhere = 7n

type Report = (callId: string, assistant: number) => Promise<'acknowledged' | 'refused' | 'unanswered'>

/** Two engines of each kind, each one call after the other, until they are stopped. */
export function callLoad ({ seed, apiUrl, client, assistants }: LoadOptions): CallLoad {
  const load: CallLoad = { acknowledged: { byHttp: [], byEvent: [] }, refused: [], givenUp: [], repeated: 0, stop }
  let isOver = false
  const working = Promise.all(engines.map((engine, index) => {
    const [report, way] = engine.startsWith('http') ? [byHttp, 'byHttp' as const] : [byEvent, 'byEvent' as const]
    return write(engine, report, load.acknowledged[way], choices(seed + 1 + index))
  }))
  working.catch(() => {}) // told by `stop`
  return load

  async function stop (): Promise<void> {
    isOver = true
    await working
  }

  async function write (engine: string, report: Report, acknowledged: string[], { pick, onceIn, instant }: Choices): Promise<void> {
    for (let n = 1; !isOver; n++) {
      const callId = `${engine}-${n}`
      const [assistant, givesUp] = [onceIn(20) ? 0 : pick(assistants), onceIn(10)]
      let outcome = await report(callId, assistant)
      while (outcome === 'unanswered' && !givesUp) {
        await delay(againAfterMs)
        outcome = await report(callId, assistant)
      }
      if (outcome === 'acknowledged') acknowledged.push(callId)
      if (outcome === 'acknowledged' && engine.startsWith('event') && onceIn(20)) await repeat(callId, assistant)
      if (outcome === 'refused') load.refused.push(callId)
      if (outcome === 'unanswered') load.givenUp.push(callId)
      await instant(paceMs)
    }
  }

  /** Another event of the same call: it counts for nothing. */
  async function repeat (callId: string, assistant: number): Promise<void> {
    while (await append(callId, assistant, 0n) === 'unanswered') await delay(againAfterMs)
    load.repeated++
  }

  async function byHttp (callId: string, assistant: number): ReturnType<Report> {
    const request = { token: await token(secrets.JWT_SECRET, 'engine', 'engine'), body: callReport(assistant) }
    const answer = await caller(apiUrl())('POST', `/engine/calls/${callId}/completed`, request).catch(() => ({ status: 503, body: undefined }))
    if (answer.status === 202) return 'acknowledged'
    if (answer.status === 422 && assistant === 0) return 'refused'
    if (answer.status >= 500) return 'unanswered'
    throw new Error(`the report of ${callId} was answered with ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  /** A call of nobody is appended where its stream does not end, which the store refuses. */
  async function byEvent (callId: string, assistant: number): ReturnType<Report> {
    return await append(callId, assistant, assistant === 0 ? nowhere : NO_STREAM)
  }

  async function append (callId: string, assistant: number, expectedRevision: AppendExpectedRevision): ReturnType<Report> {
    const patience = new AbortController() // the client itself may wait for ever for a server that is gone
    try {
      const late = delay(patienceMs, undefined, { signal: patience.signal }).then(() => { throw new Error('no answer') })
      const id = uuidV5(eventIds, `${callId} ${expectedRevision}`) // the same for a repeated append, so that the store knows it
      const event = jsonEvent({ id, type: 'CallCompleted', data: { call_id: callId, ...callReport(assistant) } })
      await Promise.race([client.appendToStream(`call-${callId}`, event, { expectedRevision, credentials: unbatched }), late])
      return 'acknowledged'
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) return 'unanswered'
      if (expectedRevision === nowhere) return 'refused'
      throw error
    } finally {
      patience.abort()
    }
  }
}
