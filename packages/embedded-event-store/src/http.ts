// What the port answers over HTTP/1.1: a health check, and the scavenge as operators of EventStoreDB start it.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { notHere } from './protocol/errors.js'

export interface HttpActions {
  isReady (): boolean
  /** Begins a scavenge, unless one is under way. */
  startScavenge (): { id: string, isNew: boolean }
}

interface Answer { status: number, reason?: string, body?: object }

/** What EventStoreDB answers over HTTP. Its client falls back on it, and shows only the status line of a refusal. */
const absent = /^\/(subscriptions|projections?|streams|users|admin)(\/|$)/

/** It listens nowhere: connections are handed to it. */
export function httpServer (actions: HttpActions): Server {
  const server = createServer((request, response) => {
    const { status, reason, body } = answerTo(request, actions)
    response.setHeader('Connection', 'close')
    if (body !== undefined) response.setHeader('Content-Type', 'application/json')
    response.writeHead(status, reason).end(body && JSON.stringify(body))
  })
  return server.on('connect', (_request, socket) => { socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n') })
}

function answerTo ({ method, url = '/', headers }: IncomingMessage, actions: HttpActions): Answer {
  // Not `new URL`, which throws for some of the request lines that node lets through.
  const [path = '', query] = url.replace(/^https?:\/\/[^/?]*/, '').split('?', 2)
  if (path === '/health/live' && (method === 'GET' || method === 'HEAD')) {
    return { status: actions.isReady() ? liveCode(query) : 503 }
  }
  // A page in a browser on this machine could send it as well, and would say where it comes from.
  const isOfPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
  if (path === '/admin/scavenge' && method === 'POST') return isOfPage ? { status: 403 } : scavenge(actions)
  return absent.test(path) ? { status: 501, reason: notHere('The HTTP interface').message } : { status: 404 }
}

/** As EventStoreDB: 400 while another one is under way, whose id it tells. */
function scavenge ({ isReady, startScavenge }: HttpActions): Answer {
  if (!isReady()) return { status: 503 }
  const { id, isNew } = startScavenge()
  return { status: isNew ? 200 : 400, body: { scavengeId: id } }
}

function liveCode (query: string | undefined): number {
  const asked = Number(new URLSearchParams(query).get('liveCode') ?? 204)
  return Number.isInteger(asked) && asked >= 200 && asked <= 599 ? asked : 204
}
