// Scavenges the embedded event store: removes hidden events. On a real server its operator does that.
import { setTimeout as delay } from 'node:timers/promises'
import {
  AccessDeniedError, StreamDeletedError, StreamNotFoundError, type AllStreamRecordedEvent
} from '@eventstore/db-client'
import { OperationsClient } from '@eventstore/db-client/generated/operations_grpc_pb.js'
import operations from '@eventstore/db-client/generated/operations_pb.js'
import type { EventStoreConnection, Session } from './connection.js'
import { EventStoreUnavailable, readError } from './errors.js'
import { collect, unary } from './read.js'

export interface Scavenged {
  scavengeId: string
  /** Number of removed events. */
  events: number
  /** Size of their data and metadata. */
  bytes: number
}

/** Marks an embedded store: its log begins with this stream. Copies of a log leave it out. */
const embeddedStream = '$embedded-event-store'
const lookEveryMs = 50
/** Polls of five seconds. */
const looksUntilAsked = 100

/**
 * Returns when all events are removed that were hidden at the time of the call.
 * @returns undefined on a real server, where it does nothing
 * @throws EventStoreUnavailable, also when the store could not finish: call it again
 */
export async function scavengeEmbedded (
  connection: EventStoreConnection, answerWithinMs: number
): Promise<Scavenged | undefined> {
  try {
    return await connection.onLeader(async (session) => {
      if ((await eventsOf(session, embeddedStream, answerWithinMs)).length === 0) return undefined
      // A scavenge that was already running may have passed what must go now. It is named until a while after its end.
      for (let running: string | undefined; ;) {
        const { scavengeId, scavengeResult } = await start(session)
        const scavenged = await ended(session, scavengeId, answerWithinMs)
        if (scavengeResult === operations.ScavengeResp.ScavengeResult.STARTED) return scavenged
        if (scavengeId !== (running ??= scavengeId)) return scavenged
      }
    })
  } catch (error) {
    throw readError(error)
  }
}

async function start ({ client }: Session): Promise<operations.ScavengeResp.AsObject> {
  const answer = await client['execute'](OperationsClient, 'startScavenge', (service) => // protected members
    unary<operations.ScavengeResp>((done) =>
      service.startScavenge(new operations.StartScavengeReq(), ...client['callArguments']({}), done)))
  return answer.toObject()
}

async function ended (session: Session, scavengeId: string, answerWithinMs: number): Promise<Scavenged> {
  for (let looks = 1; ; looks++) {
    const told = await eventsOf(session, `$scavenges-${scavengeId}`, answerWithinMs)
    const completed = told.find(({ type }) => type === '$scavengeCompleted')
    if (completed) return summaryOf(scavengeId, completed.data)
    // A scavenge cut off by a restart of the store never completes: the next one does its work as well.
    const latest = looks % looksUntilAsked === 0 ? (await start(session)).scavengeId : scavengeId
    if (latest !== scavengeId) return await ended(session, latest, answerWithinMs)
    await delay(lookEveryMs)
  }
}

function summaryOf (scavengeId: string, data: unknown): Scavenged {
  const { result, error, eventsRemoved, spaceSaved } = Object(data)
  if (result !== 'Success') throw new EventStoreUnavailable(`the scavenge was not finished: ${error ?? result}`)
  return { scavengeId, events: Number(eventsRemoved), bytes: Number(spaceSaved) }
}

/** Empty for a missing or unreadable stream: a real server does not let everybody read its system streams. */
async function eventsOf (
  session: Session, stream: string, answerWithinMs: number
): Promise<Array<Pick<AllStreamRecordedEvent, 'type' | 'data'>>> {
  try {
    const read = await collect(session, session.client.readStream(stream, { maxCount: 10 }), answerWithinMs)
    return read.flatMap(({ event }) => event ? [event] : [])
  } catch (error) {
    if ([StreamNotFoundError, StreamDeletedError, AccessDeniedError].some((is) => error instanceof is)) return []
    throw error
  }
}
