// What the pages and their API work with: composition wires it.
import type { Delivery, DeliveryDetails, DeliverySummary, RequestedAttempt } from '../features/webhooks/model.js'
import type { ActionReport } from '../../projections/operate/actions.js'
import type { Action, OperationInput } from '../../projections/operate/operations.js'
import type { GenerationStatus } from '../../projections/operate/overview.js'

/** A projection, or the webhook dispatcher, as an operator sees it. */
export interface ProjectionStatus {
  name: string
  /** Of what readers see. */
  state: 'running' | 'paused' | 'stopped' | 'filling'
  /** Why it is stopped. */
  problem: string | null
  /** As text: a position of the log may be larger than a number of JSON. */
  position: string
  /** How far the log is ahead. Beyond 10,000 events it is not exact. */
  lag_events: number
  lag_is_exact: boolean
  lag_seconds: number
  /** Events a second, in the last full minute. */
  rate: number
  parked_streams: number
  /** None of the dispatcher. */
  generations: GenerationStatus[]
  /** What runs on it just now. */
  action: ActionReport | null
}

/** A stream with parked events, and the error of the first. */
export interface ParkedStream {
  projection: string
  /** Null of the dispatcher. */
  generation: number | null
  stream: string
  events: number
  revision: string
  type: string
  error: string
  since: string
}

export interface QueueStatus {
  due: number
  queued: number
  in_flight: number
  held: number
  oldest_due: string | null
  suspended_endpoints: number
  /** Calls without a row in the delivery log; null before the first count. */
  unaccounted: number | null
}

export interface Endpoint {
  id: string
  user_id: string
  url: string
  state: 'suspended' | 'paused'
  reason: string
  since: string | null
  until: string | null
}

/** The last 24 hours. */
export interface Day {
  deliveries: {
    hours: { hour: string, attempts: Record<string, number>, latency: { p50: number, p99: number } | null }[]
    share: number
  }
  /** By ten minutes. */
  commands: { at: string, accepted: number, refused: number, failed: number }[]
}

export interface DeliverySearch {
  /** The id of a delivery or of a call. */
  text?: string | undefined
  userId?: string | undefined
  assistantId?: number | undefined
  status?: Delivery['status'] | undefined
}

export interface OpsDeps {
  basePath: string
  /** The key of the sessions, 32 bytes; the same in every process of the deployment. */
  sessionKey: Uint8Array
  /** Whether `name` is a projection. */
  isProjection (name: string): boolean
  projections (): Promise<ProjectionStatus[]>
  queue (): Promise<QueueStatus>
  day (): Promise<Day>
  parked (name: string): Promise<ParkedStream[]>
  /** Each answers what became of it, for people, or throws a refusal in words. */
  retryParked (name: string, stream: string): Promise<string>
  skipParked (name: string, stream: string, revision: bigint, reason: string): Promise<string>
  closeBreaker (name: string): Promise<string>
  /** @returns the id of the action; nothing while another one runs on that projection */
  startAction (action: Action, projection: string, input: OperationInput): Promise<string | undefined>
  findAction (id: string): Promise<ActionReport | undefined>
  newestActions (): Promise<ActionReport[]>
  /** Newest first; `next` leads behind the last one. */
  findDeliveries (
    search: DeliverySearch, after: readonly string[]
  ): Promise<{ items: DeliverySummary[], next: string[] | null }>
  findDelivery (id: string): Promise<DeliveryDetails | undefined>
  redeliver (id: string): Promise<RequestedAttempt>
  endpoints (): Promise<Endpoint[]>
  /** @returns how many deliveries were held; nothing when nothing interrupts it */
  resumeEndpoint (id: string): Promise<number | undefined>
}
