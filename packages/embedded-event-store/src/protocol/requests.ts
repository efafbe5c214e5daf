// Converts protocol messages to types of the log: names, expected revisions, ids, proposed events.
import { describedBy, metastreamOf, type ProposedEvent } from '../log/event.js'
import { any, noStream, streamExists, type ExpectedRevision } from '../log/plan.js'
import { appendTooLarge, invalid, maxAppendSize, missingMetadata, unforeseen } from './errors.js'
import type { shared, streams } from './generated.js'

/** The limit of an index entry in Postgres. */
const mostNameBytes = 2_000

/** @throws Refusal for a missing name, or one that no stream can have */
export function streamName (bytes: Uint8Array = new Uint8Array()): string {
  if (bytes.length === 0) throw unforeseen('The stream has no name')
  if (bytes.includes(0)) throw invalid('A stream name cannot contain NUL')
  const name = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  // A metadata stream's name has a prefix, so it may be longer.
  const most = describedBy(name) === undefined ? mostNameBytes : Buffer.byteLength(metastreamOf('')) + mostNameBytes
  if (bytes.length > most) throw invalid('A stream name has at most 2,000 bytes')
  return name
}

/** Like `streamName`, for writes. */
export function writableName (bytes?: Uint8Array): string {
  const name = streamName(bytes)
  if (name === metastreamOf('')) throw invalid('$$ would hold the metadata of a stream without a name')
  return name
}

/** uint64 as a number, capped at 2^53 - 1: no log gets there. */
export function toNumber (uint64: string): number {
  return Math.min(Number(uint64), Number.MAX_SAFE_INTEGER)
}

interface ExpectedOptions {
  hasAny (): boolean
  hasNoStream (): boolean
  hasStreamExists (): boolean
  hasRevision (): boolean
}

/** @throws Refusal when none is set */
export function expectedRevision (options: ExpectedOptions, exact: string): ExpectedRevision {
  if (options.hasAny()) return any
  if (options.hasNoStream()) return noStream
  if (options.hasStreamExists()) return streamExists
  if (!options.hasRevision()) throw invalid('The expected revision is not set')
  return toNumber(exact)
}

/** A proposed event before its validation. */
export interface ProposedMessage {
  id: string
  type: string | undefined
  contentType: string | undefined
  data: Uint8Array
  metadata: Uint8Array
}

/** Converts the generated message of the unary append. */
export function proposedMessage (message: streams.AppendReq.ProposedMessage): ProposedMessage {
  const properties = message.getMetadataMap()
  return {
    id: idOf(message.getId()),
    type: properties.get('type'),
    contentType: properties.get('content-type'),
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8()
  }
}

function idOf (id: shared.UUID | undefined): string {
  const halves = id?.getStructured()
  if (halves === undefined) return id?.getString() ?? ''
  return uuidFromHalves(BigInt(halves.getMostSignificantBits()), BigInt(halves.getLeastSignificantBits()))
}

/** Validates a proposed event. @throws Refusal */
export function proposedEvent ({ id, type, contentType, data, metadata }: ProposedMessage): ProposedEvent {
  if (type === undefined || contentType === undefined) {
    const isMissing = { type: type === undefined, 'content-type': contentType === undefined }
    throw missingMetadata(Object.entries(isMissing).flatMap(([name, is]) => is ? [name] : []))
  }
  if (type === '' || type.includes('\0')) throw unforeseen('An event type is not empty and contains no NUL')
  return { id: uuid(id), type, isJson: contentType === 'application/json', data, metadata }
}

/** An event's share of the append size, counted like the real server. */
export function sizeOf (event: ProposedEvent): number {
  return event.data.length + event.metadata.length + 2 * event.type.length
}

export function checkSize (size: number): void {
  if (size > maxAppendSize) throw appendTooLarge()
}

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const zero = '00000000-0000-0000-0000-000000000000'

/** Normalises to lower case with hyphens. @throws Refusal when it is no UUID, or all zeros */
function uuid (text: string): string {
  const id = canonical.test(text) ? text : hyphenated(hexOf(text))
  if (id === zero) throw unforeseen('An event id is not all zeros')
  return id
}

/** Like .NET, accepts a UUID without hyphens, in braces or parentheses, and with spaces around it. */
function hexOf (text: string): string {
  const hex = text.trim().toLowerCase().replace(/[-{}()]/g, '')
  if (!/^[0-9a-f]{32}$/.test(hex)) throw unforeseen('An event id is a UUID')
  return hex
}

export function uuidFromHalves (most: bigint, least: bigint): string {
  const hex = (half: bigint) => BigInt.asUintN(64, half).toString(16).padStart(16, '0')
  return hyphenated(hex(most) + hex(least))
}

function hyphenated (hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
