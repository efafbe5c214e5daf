// What operators do about parked events, with the same messages on the command line and over HTTP.
import type { Projection } from '../../projections/engine/projection.js'
import { projectionNamed } from '../../projections/engine/operations.js'
import { closeBreakers } from '../../projections/engine/circuit-breaker.js'
import {
  type BackEnds, dispatcher, parkedEvent, ParkingRefused, retryStream, skipEvent, type Reprojected
} from '../../projections/engine/parked.js'
import { dispatching } from '../../workers/dispatch/dispatch.js'
import { DispatchEffects } from '../../workers/dispatch/effects.js'

/**
 * Projects the parked events of a stream, all or none. `name` is a projection, or `dispatcher`.
 * @throws ParkingRefused
 */
export async function retryParked (backEnds: BackEnds, name: string, stream: string): Promise<string> {
  const { events, hidden, generation } = await retryStream(backEnds, consumerNamed(name), stream)
  const done = name === dispatcher
    ? `The dispatcher has read ${events - hidden} events of ${stream} again`
    : `${events - hidden} events of ${stream} went into ${name} (generation ${generation})`
  return `${done}; none of its events is parked any more.`
}

/** A dispatcher that reads parked events again sends nothing. */
const consumerNamed = (name: string) =>
  name === dispatcher ? dispatching(new DispatchEffects()) : projectionNamed(name)

/** Gives one event up for good, and goes on with its stream. @throws ParkingRefused */
export async function skipParked (
  backEnds: BackEnds, name: string, stream: string, revision: bigint, reason: string
): Promise<string> {
  if (name === dispatcher) await parkedEvent(backEnds, undefined, stream, revision) // never rebuilt: it must be parked
  const outcome = await skipEvent(backEnds, consumerNamed(name), stream, revision, reason)
  if (name === dispatcher) return `The dispatcher goes on without ${stream}@${revision}.`
  return `${name} skips ${stream}@${revision} from now on, in rebuilds too. ${whatBecame(outcome)}`
}

function whatBecame ({ events, parked, refused }: Reprojected): string {
  if (refused !== undefined) return `${parked} events of the stream stay parked: ${refused}`
  return events === 0 ? 'No event of the stream was parked.' : 'No event of the stream is parked any more.'
}

/** Restarts a projection that stopped because it refused too many streams. @throws ParkingRefused */
export async function closeBreaker ({ pool }: Pick<BackEnds, 'pool'>, projection: Projection): Promise<string> {
  const { name } = projection
  if (await closeBreakers(pool, projection) > 0) return `${name} goes on within seconds, and parks what it refuses.`
  throw new ParkingRefused(`${name} does not stand still: its circuit breaker is closed`)
}
