// Looks for metadata and deletes that take events away from the streams that every process needs whole.
import { catalogStreams } from '../features/catalog/events.js'
import { settingsStream } from '../features/leads/events.js'
import { markerStream } from '../domain/marker.js'
import type { Streams } from '../log/event-log.js'

/** The few that every log has. Those of assistants, leads and calls are looked at when a command reads them. */
const everywhere = [
  markerStream, settingsStream, catalogStreams.voices, catalogStreams.languages, catalogStreams.models
]

export interface LimitedStream {
  stream: string
  limit: string
  /** In words, with what mends it. */
  problem: string
}

/** Nothing for a stream whose metadata cannot be read: this right is not needed otherwise. */
export async function findLimitedStreams (streams: Pick<Streams, 'limitOf'>): Promise<LimitedStream[]> {
  const found = await Promise.all(everywhere.map(async (stream) => {
    const limit = await streams.limitOf(stream)
    return limit ? [{ stream, limit, problem: limitedBy(stream, limit) }] : []
  }))
  return found.flat()
}

/** Says what limits the stream, and what mends it. */
export function limitedBy (stream: string, limit: string): string {
  if (limit === 'deleted') {
    return `The stream ${stream} was deleted, and a scavenge takes its events away for good: ` +
      `write metadata without $tb to $$${stream}, twice, as the server answers the first with a $tb of its own.`
  }
  return `The metadata of the stream ${stream} has ${limit}, and a scavenge takes events away for good: ` +
    `write metadata without ${limit} to $$${stream}.`
}
