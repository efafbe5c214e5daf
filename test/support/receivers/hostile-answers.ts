// How receivers behave, from healthy to hostile.
import type { ServerResponse } from 'node:http'
import { answers, type Answer } from './receiver.js'

export interface Behaviour {
  answer: Answer
  /** Whether a webhook ends as delivered there. Its headers decide that, not its body. */
  delivers: boolean
  hostile: boolean
}

/** `blockedUrl` is where redirects lead; what fails first succeeds at the second attempt. */
export function behaviours (blockedUrl: string): Record<string, Behaviour> {
  const failing = { delivers: false, hostile: true }
  return {
    healthy: { answer: answers(200), delivers: true, hostile: false },
    slow: { answer: slow, delivers: true, hostile: false },
    flapping: { answer: flapping(), delivers: true, hostile: false },
    endless: { answer: endless, delivers: true, hostile: true },
    drips: { answer: (response) => dripping(response.writeHead(200), '.'), delivers: true, hostile: true },
    'drips-headers': { answer: drippingHeaders, ...failing },
    redirects: { answer: redirecting([blockedUrl, 'http://169.254.169.254/latest']), ...failing },
    garbage: { answer: (response) => { response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n\0\0\0') }, ...failing },
    resets: { answer: (response) => { response.socket?.resetAndDestroy() }, ...failing },
    hangs: { answer: () => {}, ...failing },
    gone: { answer: answers(410), ...failing }
  }
}

const slow: Answer = (response, ...rest) => later(response, 400, () => answers(204)(response, ...rest))

function flapping (): Answer {
  const seen = new Map<unknown, number>()
  const often = (id: unknown) => seen.set(id, (seen.get(id) ?? 0) + 1).get(id) ?? 0
  return (response, received, count) => {
    const succeeds = often(received.headers['webhook-id']) % 2 === 0
    answers(succeeds ? 200 : 500)(response, received, count)
  }
}

function redirecting (locations: string[]): Answer {
  const ways = [301, 302, 307, 308].flatMap((status) => locations.map((location) => answers(status, { location })))
  return (response, received, count) => ways[count % ways.length]?.(response, received, count)
}

const drippingHeaders: Answer = ({ socket }) => {
  if (socket?.write('HTTP/1.1 200 OK\r\n')) dripping(socket, 'a: b\r\n')
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
