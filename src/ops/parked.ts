// What operators do about parked events: the same from the command line and from the pages, told in the same words.
import type { Projection } from '../../projections/engine/projection.js'
import { projectionNamed } from '../../projections/engine/operations.js'
import { closeBreakers } from '../../projections/engine/circuit-breaker.js'
import { dispatcher, notParked, ParkingRefused } from '../../projections/engine/parked.js'
import { retryStream, skipEvent, type Reprojected } from '../../projections/engine/reproject.js'
import * as retry from '../../workers/dispatch/retry.js'
import type { Services } from '../services/services.js'

type BackEnds = Pick<Services, 'pool' | 'streams'>

/**
 * Projects what is parked of a stream: all of it or nothing. `name` is a projection, or `dispatcher`.
 * @throws ParkingRefused
 */
export async function retryParked (backEnds: BackEnds, name: string, stream: string): Promise<string> {
  if (name === dispatcher) return await retryOfDispatcher(backEnds, stream)
  const { events, hidden, generation } = await retryStream(backEnds, projectionNamed(name), stream)
  return `${events - hidden} events of ${stream} went into ${name} (generation ${generation}); none of its events is parked any more.`
}

/** Nothing is sent by it: what the dispatcher has to know of the stream is read again. */
async function retryOfDispatcher (backEnds: BackEnds, stream: string): Promise<string> {
  const outcome = await retry.retryParked(backEnds, stream)
  if (outcome.refused !== undefined) throw new ParkingRefused(`${stream} stays parked, as it was: ${outcome.refused}`)
  if (outcome.events === 0) throw notParked(dispatcher, stream)
  return `The dispatcher has read ${outcome.events} events of ${stream} again; none of its events is parked any more.`
}

/** Gives one event up for good, and goes on with its stream. @throws ParkingRefused */
export async function skipParked (
  backEnds: BackEnds, name: string, stream: string, revision: bigint, reason: string
): Promise<string> {
  if (name === dispatcher) return await skipOfDispatcher(backEnds, stream, revision, reason)
  const outcome = await skipEvent(backEnds, projectionNamed(name), stream, revision, reason)
  return `${name} skips ${stream}@${revision} from now on, in rebuilds too. ${whatBecame(outcome)}`
}

async function skipOfDispatcher (
  { pool }: BackEnds, stream: string, revision: bigint, reason: string
): Promise<string> {
  if (!await retry.skipParked(pool, stream, revision, reason)) throw notParked(dispatcher, stream, revision)
  return `The dispatcher goes on without ${stream}@${revision}.`
}

function whatBecame ({ events, parked, refused }: Reprojected): string {
  if (refused !== undefined) return `${parked} events of the stream stay parked: ${refused}`
  return events === 0 ? 'No event of the stream was parked.' : 'No event of the stream is parked any more.'
}

/** Lets a projection go on that stands still because it refused too many streams. @throws ParkingRefused */
export async function closeBreaker ({ pool }: Pick<BackEnds, 'pool'>, projection: Projection): Promise<string> {
  const { name } = projection
  if (await closeBreakers(pool, projection) > 0) return `${name} goes on within seconds, and parks what it refuses.`
  throw new ParkingRefused(`${name} does not stand still: its circuit breaker is closed`)
}
