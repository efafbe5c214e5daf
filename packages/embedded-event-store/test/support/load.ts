// A load of writers that insist and writers that give up.
import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { type Attempt, giveUp, insist, insistOn, type Writing } from './writers.js'

export const isAcknowledged = ({ answer }: Attempt) => answer !== undefined

export function loadOf (client: EventStoreDBClient, stopped: AbortSignal) {
  const writingTo = (stream: string): Writing => ({ client, stream, attempts: [], stopped })
  const last = writingTo('writer-0')
  const insisting = [last, ...Array.from({ length: 23 }, (_, index) => writingTo(`writer-${index + 1}`))]
  const givingUp = Array.from({ length: 4 }, (_, index) => writingTo(`giver-${index}`))
  const writings = [...insisting, ...givingUp]
  const acknowledged = () => writings.flatMap(({ attempts }) => attempts).filter(isAcknowledged).length
  let isOver = false
  const written = Promise.all([
    ...insisting.map((writing) => insist(writing, () => isOver)),
    ...givingUp.map((writing) => giveUp(writing, () => isOver))
  ])
  written.catch(() => {}) // told in the next round
  return {
    insisting,
    writings,
    acknowledged,
    /** Resolves when so many more are acknowledged. */
    async progress (count: number) {
      const wanted = acknowledged() + count
      await Promise.race([written, eventually(() => acknowledged() >= wanted, 60_000)])
    },
    async end () {
      isOver = true
      await written
      await insistOn(last, [jsonEvent({ type: 'Last', data: {} })])
    }
  }
}
