// The way from a row of the table to an event, or to the state of a stream.
import { type RecordedEvent, tombstoneRevision } from '../event.js'
import { afterEvent, afterMetadata, type StreamState, untouched } from '../stream-state.js'

/** A row of the table of events, as `pg` hands it over. */
export interface Row {
  position: string
  stream: string
  revision: string
  id: string
  type: string
  is_json: boolean
  created: string
  metadata: Buffer
  data: Buffer
}

/** The ends of a stream and of its metadata stream, each null when it has no event. */
export interface StateRow {
  stream: string
  revision: string | null
  meta_revision: string | null
  meta_is_json: boolean | null
  meta: Buffer | null
}

/** A revision as a parameter of a statement. */
export const int8 = (revision: number) => revision === tombstoneRevision ? '9223372036854775807' : String(revision)

export function toRevision (text: string): number {
  const revision = Number(text)
  return Number.isSafeInteger(revision) ? revision : tombstoneRevision
}

export function toEvent (row: Row): RecordedEvent {
  return {
    position: Number(row.position),
    stream: row.stream,
    revision: toRevision(row.revision),
    id: row.id,
    type: row.type,
    isJson: row.is_json,
    created: Number(row.created),
    metadata: row.metadata,
    data: row.data
  }
}

export function toState (row: StateRow): StreamState {
  const { revision, meta_revision: metaRevision, meta_is_json: isJson, meta } = row
  const state = revision === null ? untouched : afterEvent(untouched, { revision: toRevision(revision) })
  if (metaRevision === null || meta === null) return state
  return afterMetadata(state, { revision: toRevision(metaRevision), isJson: isJson === true, data: meta })
}
