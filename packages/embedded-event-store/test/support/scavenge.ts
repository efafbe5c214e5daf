// A scavenge from its begin to its end, as an operator of EventStoreDB runs it.
import { setTimeout as delay } from 'node:timers/promises'
import { type EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client'
import { collect } from './scratch-event-store.js'

/** The data of `$scavengeCompleted`. */
export interface CompletedScavenge {
  scavengeId: string
  result: string
  eventsRemoved: number
  spaceSaved: number
}

/** Returns when it has succeeded. */
export async function scavenge ({ port }: { port: number }, client: EventStoreDBClient): Promise<CompletedScavenge> {
  const response = await fetch(`http://127.0.0.1:${port}/admin/scavenge`, { method: 'POST' })
  const { scavengeId } = await response.json() as { scavengeId: string }
  if (response.status !== 200) throw new Error(`A scavenge did not begin: ${response.status}`)
  for (;; await delay(10)) {
    const completed = await completedIn(client, `$scavenges-${scavengeId}`)
    if (completed?.result === 'Success') return completed
    if (completed !== undefined) throw new Error(`A scavenge failed: ${JSON.stringify(completed)}`)
  }
}

async function completedIn (client: EventStoreDBClient, stream: string): Promise<CompletedScavenge | undefined> {
  const read = await collect(client.readStream(stream)).catch((error: unknown) => {
    if (error instanceof StreamNotFoundError) return []
    throw error
  })
  const completed = read.find(({ event }) => event?.type === '$scavengeCompleted')
  return completed?.event?.data as CompletedScavenge | undefined
}
