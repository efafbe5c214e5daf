// The demo's webhook receiver: fails once, then takes what is signed.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Interrupted } from '../shutdown.js'

export interface Delivery {
  headers: IncomingHttpHeaders
  /** The bytes as they came: a signature covers these and nothing else. */
  body: string
  receivedAt: number
  answered: number
}

export interface Receiver {
  url: string
  /** The delivery with this number, counted from 0, as soon as it has come. @throws after `withinMs` */
  delivery (number: number, withinMs: number): Promise<Delivery>
  close (): Promise<void>
}

/** Answers 503 to the first request and 204 to all later ones. Waiting for a delivery ends when `signal` is aborted. */
export async function openReceiver (signal: AbortSignal): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const answered = deliveries.length === 0 ? 503 : 204
      const body = Buffer.concat(chunks).toString('utf8')
      deliveries.push({ headers: request.headers, body, receivedAt: performance.now(), answered })
      response.writeHead(answered).end()
      for (const wake of waiting) wake()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks/calls`,
    delivery: (number, withinMs) => new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no webhook came within ${withinMs / 1000} s`)), withinMs)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(new Interrupted('nobody waits for a webhook any more'))
      })
      const check = () => {
        const delivery = deliveries[number]
        if (!delivery) return
        clearTimeout(timer)
        waiting.delete(check)
        resolve(delivery)
      }
      waiting.add(check)
      check()
    }),
    async close () {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
