// What the steps of the demo have in common.
import type { Receiver } from './receiver.js'
import type { Timeline } from './timeline.js'

export interface Journey {
  url: string
  tokens: { user: string, engine: string }
  receiver: Receiver
  timeline: Timeline
  signal: AbortSignal
}
