// Retries requests until they are answered. A write keeps its Idempotency-Key over all retries, so it happens once.

export interface RetryOptions {
  /** How often a request is sent at most; 5 when absent, 1 for no retries. */
  attempts?: number
  /** The first backoff, in milliseconds; 250 when absent. It doubles each time, and half of it is random. */
  waitMs?: number
  /** The longest wait, in milliseconds; 30 s when absent. An answer that asks for a longer one is returned. */
  mostWaitMs?: number
}

type Send = (request: Request) => Promise<Response>

/** @throws what `send` throws, when the last attempt fails, and at once when the request is aborted */
export function retrying (send: Send, { attempts = 5, waitMs = 250, mostWaitMs = 30_000 }: RetryOptions): Send {
  return async (request) => {
    if (isWrite(request) && !request.headers.has('idempotency-key')) {
      request.headers.set('idempotency-key', crypto.randomUUID())
    }
    for (let attempt = 1; ; attempt++) {
      const outcome = await outcomeOf(send, request)
      const wait = waitAfter(outcome) ?? withJitter(Math.min(waitMs * 2 ** (attempt - 1), mostWaitMs))
      const isOver = attempt >= attempts || wait > mostWaitMs || request.signal.aborted
      if (isOver || !isTransient(outcome)) return settled(outcome)
      if (outcome instanceof Response) await outcome.body?.cancel()
      await delay(wait, request.signal)
    }
  }
}

const isWrite = ({ method }: Request) => ['POST', 'PUT', 'DELETE'].includes(method)

/** An answer, or why there was none. */
type Outcome = Response | { failure: unknown }

const outcomeOf = async (send: Send, request: Request): Promise<Outcome> =>
  await send(request.clone()).catch((failure: unknown) => ({ failure }))

function settled (outcome: Outcome): Response {
  if (outcome instanceof Response) return outcome
  throw outcome.failure
}

/** A 409 with Retry-After: an earlier request with the key is still being handled. */
function isTransient (outcome: Outcome): boolean {
  if (!(outcome instanceof Response)) return true
  return [429, 503].includes(outcome.status) || (outcome.status === 409 && outcome.headers.has('retry-after'))
}

/** `Retry-After`, in milliseconds. */
function waitAfter (outcome: Outcome): number | undefined {
  const seconds = outcome instanceof Response ? outcome.headers.get('retry-after') : null
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}

const withJitter = (ms: number) => ms / 2 + Math.random() * ms / 2

/** Ends early when the request is aborted. Without the timers of Node: it runs in browsers, too. */
async function delay (ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
  signal.throwIfAborted()
}
