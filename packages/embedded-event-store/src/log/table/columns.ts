// The columns of the table of events, as an insert fills them.
import { boolArray, byteaArray, int8Array, textArray, uuidArray } from './binary-array.js'
import type { RecordedEvent } from '../event.js'

export interface Column {
  name: string
  /** Of Postgres. */
  type: string
  /** The values of these events, as one array of Postgres. */
  arrayOf (events: readonly RecordedEvent[]): Buffer
}

export const columns: readonly Column[] = [
  { name: 'position', type: 'int8', arrayOf: (events) => int8Array(events.map((event) => event.position)) },
  { name: 'stream', type: 'text', arrayOf: (events) => textArray(events.map((event) => event.stream)) },
  { name: 'revision', type: 'int8', arrayOf: (events) => int8Array(events.map((event) => event.revision)) },
  { name: 'id', type: 'uuid', arrayOf: (events) => uuidArray(events.map((event) => event.id)) },
  { name: 'type', type: 'text', arrayOf: (events) => textArray(events.map((event) => event.type)) },
  { name: 'is_json', type: 'bool', arrayOf: (events) => boolArray(events.map((event) => event.isJson)) },
  { name: 'created', type: 'int8', arrayOf: (events) => int8Array(events.map((event) => event.created)) },
  { name: 'metadata', type: 'bytea', arrayOf: (events) => byteaArray(events.map((event) => event.metadata)) },
  { name: 'data', type: 'bytea', arrayOf: (events) => byteaArray(events.map((event) => event.data)) }
]
