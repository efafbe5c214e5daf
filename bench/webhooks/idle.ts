// How long a webhook takes when nothing else happens: from the report of a call to its receiver, one call at a time.
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { CallCompleted } from '../../src/domain/call/events.js'
import type { Random } from '../support/random.js'
import { percentile } from '../support/statistics.js'
import { endedCall } from './calls.js'
import type { Certificate } from './certificate.js'

export interface Arrivals {
  /** Where webhooks arrive: in this process, so that both ends have one clock. */
  url: string
  /** When the webhook of this call came, by `performance.now()`. */
  of (callId: string): Promise<number>
  close (): Promise<void>
}

export interface Latency { p50: number, p99: number }

const warmUp = 20
const arrivesWithinMs = 30_000

/** Over https where there is a certificate. */
export async function openArrivals (certificate?: Certificate): Promise<Arrivals> {
  const awaited = new Map<string, (at: number) => void>()
  const take: RequestListener = (request, response) => {
    const at = performance.now()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { data }: { data: { call_id: string } } = JSON.parse(Buffer.concat(chunks).toString())
      awaited.get(data.call_id)?.(at)
      awaited.delete(data.call_id)
      response.end()
    })
  }
  const server = (certificate ? createSecureServer(certificate, take) : createServer(take)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port')
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${address.port}`,
    of: (callId) => new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the webhook of call ${callId} did not come`)), arrivesWithinMs)
      awaited.set(callId, (at) => {
        clearTimeout(timer)
        resolve(at)
      })
    }),
    async close () {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

interface Calls {
  assistantId: number
  count: number
  chance: Random
  report (call: CallCompleted): Promise<void>
}

/** Reports `count` calls of an assistant whose webhooks arrive at `arrivals`. @returns milliseconds */
export async function idleLatency (
  arrivals: Arrivals, { assistantId, count, chance, report }: Calls
): Promise<Latency> {
  const taken: number[] = []
  for (let n = 0; n < warmUp + count; n++) {
    await delay(chance.whole(20, 60))
    const call = endedCall(chance, assistantId)
    const arrived = arrivals.of(call.call_id)
    const reportedAt = performance.now()
    const [at] = await Promise.all([arrived, report(call)])
    if (n >= warmUp) taken.push(at - reportedAt)
  }
  return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) }
}
