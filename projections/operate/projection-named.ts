// Finds the projection that an operator named.
import type { Projection } from '../engine/projection.js'
import { projections } from '../index.js'

export class UnknownProjection extends Error {
  override readonly name = 'UnknownProjection'
}

/** @throws UnknownProjection, with the names that exist */
export function projectionNamed (name: string): Projection {
  const projection = projections.find((known) => known.name === name)
  if (projection) return projection
  const names = projections.map((known) => known.name).join(', ')
  throw new UnknownProjection(`there is no projection ${name}: choose one of ${names}`)
}
