// How receivers behave, from healthy to hostile, by the last part of their path.
import type { ServerResponse } from 'node:http'
import { answers, type Answer } from './receiver.js'

export interface Behaviour {
  answer: Answer
  /** Whether what is sent there ends as delivered; by its headers, whatever becomes of the body. */
  delivers: boolean
}

/** `blockedUrl` is where redirects lead; what fails first succeeds at the second attempt. */
export function behaviours (blockedUrl: string): Record<string, Behaviour> {
  const seen = new Map<unknown, number>()
  const often = (id: unknown) => seen.set(id, (seen.get(id) ?? 0) + 1).get(id) ?? 0
  const redirects = [301, 302, 307, 308].flatMap((status) => [blockedUrl, 'http://169.254.169.254/latest'].map((location) => answers(status, { location })))
  return {
    healthy: { answer: answers(200), delivers: true },
    slow: { answer: (response, ...rest) => later(response, 400, () => answers(204)(response, ...rest)), delivers: true },
    flapping: { answer: (response, received, count) => answers(often(received.headers['webhook-id']) % 2 === 0 ? 200 : 500)(response, received, count), delivers: true },
    endless: { answer: endless, delivers: true },
    drips: { answer: (response) => dripping(response.writeHead(200), '.'), delivers: true },
    'drips-headers': { answer: (response) => { if (response.socket?.write('HTTP/1.1 200 OK\r\n')) dripping(response.socket, 'a: b\r\n') }, delivers: false },
    redirects: { answer: (response, received, count) => redirects[count % redirects.length]?.(response, received, count), delivers: false },
    garbage: { answer: (response) => { response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n\0\0\0') }, delivers: false },
    resets: { answer: (response) => { response.socket?.resetAndDestroy() }, delivers: false },
    hangs: { answer: () => {}, delivers: false },
    gone: { answer: answers(410), delivers: false }
  }
}

const everyMs = 200
const chunk = Buffer.alloc(16 * 1024, 'x')

function later (response: ServerResponse, ms: number, work: () => void): void {
  const timer = setTimeout(work, ms)
  response.on('close', () => clearTimeout(timer))
}

function endless (response: ServerResponse): void {
  const pour = () => { while (!response.destroyed && response.write(chunk)); }
  response.writeHead(200).on('drain', pour)
  pour()
}

function dripping (to: NodeJS.WritableStream, drop: string): void {
  const timer = setInterval(() => { to.write(drop) }, everyMs)
  to.on('close', () => clearInterval(timer))
}
