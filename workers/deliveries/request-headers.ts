// What the request of an attempt carries besides its signature: as it is sent, and as its user is shown it.

export interface NumberedAttempt {
  /** The `webhook-id`: the same at every attempt. */
  id: string
  /** Number of the attempt, from 1 on. */
  attempt: number
  at: Date
}

/** Of Standard Webhooks, and the number. */
export const attemptHeaders = ({ id, attempt, at }: NumberedAttempt) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-attempt': String(attempt)
})

/** @param version of Ringledger */
export const requestHeaders = (attempt: NumberedAttempt, version: string) => ({
  'content-type': 'application/json',
  'user-agent': `Ringledger/${version}`,
  ...attemptHeaders(attempt)
})
