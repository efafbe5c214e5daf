// An append of a batch call that has no reply yet, chunk by chunk.
import type { ProposedEvent } from '../../log/event.js'
import type { BatchChunk, BatchOptions } from './batch-chunk.js'
import { checkSize, proposedEvent, sizeOf, writableName } from '../requests.js'

export interface OpenAppend {
  key: string
  id: Buffer
  options: BatchOptions
  stream: string
  events: ProposedEvent[]
  size: number
  isComplete: boolean
  /** Unix ms. */
  deadline: number
}

/** How long the chunks of one append may take, in ms, whatever its deadline says (as the real server has it). */
const chunkPatience = 2_000

export function openAppend (key: string, id: Buffer, options: BatchOptions): OpenAppend {
  const deadline = Math.min(options.deadline, Date.now() + chunkPatience)
  return { key, id, options, stream: '', events: [], size: 0, isComplete: false, deadline }
}

/** @throws Refusal when its stream or an event of the chunk is not valid, or the append becomes too large */
export function addChunk (append: OpenAppend, chunk: BatchChunk): void {
  if (append.stream === '') append.stream = writableName(append.options.name)
  for (const message of chunk.messages) {
    const event = proposedEvent(message)
    checkSize(append.size += sizeOf(event))
    append.events.push(event)
  }
}
