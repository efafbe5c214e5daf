// From messages to the words of the log: names, expected revisions, ids, proposed events.
import type { ProposedEvent } from '../log/event.js'
import { any, noStream, streamExists, type ExpectedRevision } from '../log/decide.js'
import { invalid, maxAppendSize, missingMetadata, Refusal, accessDenied, appendTooLarge } from './errors.js'
import type { shared, streams } from './generated.js'
import { status } from '@grpc/grpc-js'

/** The stream's name; throws a `Refusal` for none, or for one that no stream can have. */
export function streamName (identifier: shared.StreamIdentifier | undefined): string {
  const name = Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8')
  if (name === '') throw invalid('The stream has no name')
  if (name.includes('\0')) throw invalid('A stream name cannot contain NUL')
  if (Buffer.byteLength(name) > 2000) throw invalid('A stream name has at most 2,000 bytes')
  return name
}

/** The same for a stream that is to be written to. */
export function writableStreamName (identifier: shared.StreamIdentifier | undefined): string {
  const name = streamName(identifier)
  if (name === '$all') throw accessDenied()
  return name
}

/** uint64 as a number; what lies beyond 2^53 is as good as 2^53 - 1: no log gets there. */
export function toNumber (uint64: string): number {
  return Math.min(Number(uint64), Number.MAX_SAFE_INTEGER)
}

interface ExpectedOptions {
  hasAny (): boolean
  hasNoStream (): boolean
  hasStreamExists (): boolean
}

export function expectedRevision (options: ExpectedOptions, exact: string): ExpectedRevision {
  if (options.hasAny()) return any
  if (options.hasNoStream()) return noStream
  if (options.hasStreamExists()) return streamExists
  return toNumber(exact)
}

type ProposedMessage = streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage

/** Checks and takes over one proposed event; throws a `Refusal`. */
export function proposedEvent (message: ProposedMessage): ProposedEvent {
  const properties = message.getMetadataMap()
  const type = properties.get('type')
  const contentType = properties.get('content-type')
  if (type === undefined || contentType === undefined) throw missingMetadata(['type', 'content-type'].filter((name) => properties.get(name) === undefined))
  if (type === '' || type.includes('\0')) throw invalid('An event type is not empty and contains no NUL')
  return {
    id: uuid(message.getId()),
    type,
    isJson: contentType === 'application/json',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8()
  }
}

/** What an event adds to the size of its append, as the server counts it. */
export function sizeOf (event: ProposedEvent): number {
  return event.data.length + event.metadata.length + 2 * event.type.length
}

export function checkSize (size: number): void {
  if (size > maxAppendSize) throw appendTooLarge()
}

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A UUID in either form, lower-case and hyphenated; throws a `Refusal`. */
export function uuid (message: shared.UUID | undefined): string {
  const text = message?.getStructured() === undefined ? message?.getString() ?? '' : fromHalves(message.getStructured())
  if (canonical.test(text)) return text
  const hex = text.toLowerCase().replace(/[-{}]/g, '')
  if (!/^[0-9a-f]{32}$/.test(hex)) throw new Refusal(status.INVALID_ARGUMENT, 'An event id is a UUID')
  return hyphenated(hex)
}

function fromHalves (halves: shared.UUID.Structured | undefined): string {
  const hex = (half: string | undefined) => BigInt.asUintN(64, BigInt(half ?? 0)).toString(16).padStart(16, '0')
  return hyphenated(hex(halves?.getMostSignificantBits()) + hex(halves?.getLeastSignificantBits()))
}

function hyphenated (hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
