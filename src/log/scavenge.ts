// Has the embedded event store remove what nobody can read any more. On a real server that is its operator's business.
import { setTimeout as delay } from 'node:timers/promises'
import {
  AccessDeniedError, StreamDeletedError, StreamNotFoundError, type AllStreamRecordedEvent
} from '@eventstore/db-client'
import { OperationsClient } from '@eventstore/db-client/generated/operations_grpc_pb.js'
import operations from '@eventstore/db-client/generated/operations_pb.js'
import type { EventStoreConnection, Session } from './connection.js'
import { EventStoreUnavailable, readError } from './errors.js'
import { collect } from './read.js'

export interface Scavenged {
  scavengeId: string
  /** How many were removed. */
  events: number
  /** Of their data and metadata. */
  bytes: number
}

/** The log of the embedded store begins with it, and copies leave it out. */
const embeddedStream = '$embedded-event-store'
const lookEveryMs = 50
/** Five seconds. */
const looksUntilAsked = 100

/**
 * Returns when everything is removed that was hidden when this was called.
 * @returns nothing on a real server, where nothing was done
 * @throws EventStoreUnavailable, also when the store could not finish: do it again
 */
export async function scavengeEmbedded (
  connection: EventStoreConnection, answerWithinMs: number
): Promise<Scavenged | undefined> {
  try {
    return await connection.onLeader(async (session) => {
      if ((await eventsOf(session, embeddedStream, answerWithinMs)).length === 0) return undefined
      const { scavengeId, scavengeResult } = await start(session)
      const scavenged = await ended(session, scavengeId, answerWithinMs)
      if (scavengeResult === operations.ScavengeResp.ScavengeResult.STARTED) return scavenged
      // One that was under way may have passed what is to go now.
      return await ended(session, (await start(session)).scavengeId, answerWithinMs)
    })
  } catch (error) {
    throw readError(error)
  }
}

async function start ({ client }: Session): Promise<operations.ScavengeResp.AsObject> {
  const answer = await client['execute'](OperationsClient, 'startScavenge', (service) => // this door is protected
    new Promise<operations.ScavengeResp>((resolve, reject) => {
      const [metadata, options] = client['callArguments']({})
      service.startScavenge(new operations.StartScavengeReq(), metadata, options, (error, answer) => {
        if (error) reject(error)
        else resolve(answer)
      })
    }))
  return answer.toObject()
}

async function ended (session: Session, scavengeId: string, answerWithinMs: number): Promise<Scavenged> {
  for (let looks = 1; ; looks++) {
    const told = await eventsOf(session, `$scavenges-${scavengeId}`, answerWithinMs)
    const completed = told.find(({ type }) => type === '$scavengeCompleted')
    if (completed) return summaryOf(scavengeId, completed.data)
    // One that a restart of the store has ended is not completed: the next one does its work as well.
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

/** None of a stream that is not there, or not for us: a real server does not let everybody read its own streams. */
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
