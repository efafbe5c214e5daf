// Runs one generation of a projection as something that follows the log.
import type { Pool } from 'pg'
import type { Consumer } from '../../src/subscriptions/consumer.js'
import { fillFirst } from '../fill/first-fill.js'
import { checkpointOf, leaseOf, schemaOf } from '../generations/generations.js'
import { CircuitBreaker } from '../parking/circuit-breaker.js'
import type { Projection } from './projection.js'
import { Writer } from './writer.js'

export function generationConsumer (projection: Projection, generation: number, pool: Pool): Consumer {
  return {
    name: leaseOf(projection, generation),
    eventTypes: projection.eventTypes,
    isUnhurried: projection.isUnhurried,
    async open () {
      const breaker = await CircuitBreaker.load(pool, schemaOf(projection, generation))
      const refuse = breaker.refuse.bind(breaker)
      const writer = new Writer(projection, generation, pool, { refuse })
      return {
        checkpointTable: checkpointOf(projection, generation),
        fill: (holder) => fillFirst(projection, generation, pool, { ...holder, refuse }),
        async write (batch, from, epoch) {
          await writer.write(batch, from, epoch)
          await breaker.passed(batch.position)
        }
      }
    }
  }
}
