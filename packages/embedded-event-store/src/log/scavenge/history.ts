// What a scavenge writes into the log of its begin and its end: the streams and events of EventStoreDB.
import { randomUUID } from 'node:crypto'
import { metastreamOf, type ProposedEvent } from '../event.js'
import { any, type ExpectedRevision, noStream } from '../write/decide.js'
import type { Outcome, WriteRequest } from '../write/request.js'

/** How a scavenge ended. */
export interface Scavenged {
  result: 'Success' | 'Failed'
  /** Why it failed. */
  error?: string
  /** How many were removed, and the bytes of their data and metadata. */
  events: number
  bytes: number
  tookMs: number
}

type Write = (request: WriteRequest) => Promise<Outcome>

const all = '$scavenges'
const streamOf = (id: string) => `${all}-${id}`

/** 30 days, as the default of EventStoreDB. */
const keptSeconds = 30 * 24 * 3600

export class ScavengeHistory {
  readonly #write: Write
  readonly #about: { scavengeId: string, nodeEndpoint: string }

  constructor (write: Write, scavengeId: string, nodeEndpoint: string) {
    this.#write = write
    this.#about = { scavengeId, nodeEndpoint }
  }

  /** @returns the position of the first event, or nothing when it could not be written */
  async started (): Promise<number | undefined> {
    const position = await this.#tell('$scavengeStarted', {}, 0)
    await this.#keepFor(streamOf(this.#about.scavengeId))
    await this.#keepFor(all)
    return position
  }

  async completed ({ result, error, events, bytes, tookMs }: Scavenged): Promise<void> {
    const timeTaken = new Date(Math.round(tookMs)).toISOString().slice(11, -1)
    await this.#tell('$scavengeCompleted', { result, error, timeTaken, spaceSaved: bytes, eventsRemoved: events }, 1)
  }

  async #tell (type: string, more: object, revision: number): Promise<number | undefined> {
    const stream = streamOf(this.#about.scavengeId)
    const position = await this.#append(stream, { type, isJson: true, data: { ...this.#about, ...more } })
    if (position !== undefined) await this.#append(all, { type: '$>', isJson: false, data: `${revision}@${stream}` })
    return position
  }

  /** Unless it has metadata. */
  async #keepFor (stream: string): Promise<void> {
    const metadata = { type: '$metadata', isJson: true, data: { $maxAge: keptSeconds } }
    await this.#append(metastreamOf(stream), metadata, noStream)
  }

  async #append (
    stream: string, { data, ...about }: Pick<ProposedEvent, 'type' | 'isJson'> & { data: unknown },
    expected: ExpectedRevision = any
  ): Promise<number | undefined> {
    const bytes = Buffer.from(typeof data === 'string' ? data : JSON.stringify(data))
    const event = { ...about, id: randomUUID(), data: bytes, metadata: new Uint8Array() }
    const outcome = await this.#write({ action: 'append', stream, expected, events: [event] })
    return outcome.kind === 'written' ? outcome.position : undefined
  }
}
