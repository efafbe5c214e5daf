// Connections that clients keep open while a service stops, and how many whole answers each must get.
import { connect, type Socket } from 'node:net'
import { eventually } from '../eventually.js'
import type { Teardown } from '../teardown.js'

interface Place {
  url: string
  token: string
  /** Paths of a short answer, of a long one, of a JSON body, and of a body of CSV. */
  small: string
  large: string
  json: string
  csv: string
}

interface Client extends Omit<Place, 'url'> {
  socket: Socket
  got (): string
}

interface Opened {
  onStop?: () => void
  answers: () => number
}

interface Connection {
  kind: string
  onStop (): void
  /** Resolves when the service has closed it, with the count of missing answers, and bytes of a broken one. */
  ended: Promise<{ missing: number, bytes: number }>
}

const begun = (line: string, { token }: Client, ...headers: string[]) =>
  [line, 'Host: x', `Authorization: Bearer ${token}`, ...headers].join('\r\n')
const get = (client: Client, path: string, ...headers: string[]) =>
  `${begun(`GET ${path} HTTP/1.1`, client, ...headers)}\r\n\r\n`
const post = (client: Client, path: string, ...headers: string[]) =>
  `${begun(`POST ${path} HTTP/1.1`, client, ...headers)}\r\n\r\n`

const unanswered: Opened = { answers: () => 0 }

const answered = async ({ got }: Client, count: number) => await eventually(() => read(got()).whole >= count)

const kinds: Record<string, (client: Client) => Opened | Promise<Opened>> = {
  silent: () => unanswered,

  'half a header' (client) {
    client.socket.write(begun(`GET ${client.small} HTTP/1.1`, client))
    return unanswered
  },

  'half a body' (client) {
    client.socket.write(`${post(client, client.json, 'Content-Type: application/json', 'Content-Length: 9')}{`)
    return unanswered
  },

  CSV (client) {
    client.socket.write(post(client, client.csv, 'Content-Type: text/csv', 'Transfer-Encoding: chunked'))
    client.socket.write('e\r\nphone_number\r\n\r\n')
    const timer = setInterval(() => client.socket.write('e\r\n+155512300010\n\r\n'), 50)
    client.socket.once('close', () => clearInterval(timer))
    return unanswered
  },

  async 'keep-alive idle' (client) {
    client.socket.write(get(client, client.small))
    await answered(client, 1)
    return { answers: () => 1 }
  },

  async 'slow reader' (client) {
    client.socket.write(get(client, client.large))
    await eventually(() => client.got().length > 0)
    client.socket.pause()
    return { onStop: () => client.socket.resume(), answers: () => 1 }
  },

  pipelined (client) {
    const request = get(client, client.small)
    client.socket.write(request.slice(0, -2))
    return { onStop: () => client.socket.write(`\r\n${request}${request}`), answers: () => 3 }
  }
}

/** Each ends with its service, or in `t.teardown`. */
export async function openConnections (t: Teardown, place: Place): Promise<Connection[]> {
  return await Promise.all(Object.entries(kinds).map(async ([kind, open]) => {
    const { hostname, port } = new URL(place.url)
    const parts: Buffer[] = []
    const got = () => Buffer.concat(parts).toString('latin1')
    const socket = connect(Number(port), hostname).on('error', () => {}).on('data', (part) => parts.push(part))
    t.teardown(() => socket.destroy())
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await eventually(() => socket.readyState === 'open')
    const { onStop = () => {}, answers } = await open({ ...place, socket, got })
    const ended = closed.then(() => {
      const { whole, rest } = read(got())
      return { missing: Math.max(0, answers() - whole), bytes: rest.length }
    })
    return { kind, onStop, ended }
  }))
}

function read (got: string): { whole: number, rest: string } {
  for (let [whole, at] = [0, 0]; ; whole++) {
    const next = endOfAnswer(got, at)
    if (next === undefined) return { whole, rest: got.slice(at) }
    at = next
  }
}

function endOfAnswer (got: string, at: number): number | undefined {
  const headEnd = got.indexOf('\r\n\r\n', at)
  if (headEnd < 0) return undefined
  const head = got.slice(at, headEnd)
  let end = headEnd + 4
  const length = /^content-length: (\d+)\r?$/im.exec(head)?.[1]
  if (length !== undefined) end += Number(length)
  for (let size = -1; length === undefined && size !== 0;) {
    const lineEnd = got.indexOf('\r\n', end)
    if (lineEnd < 0) return undefined
    size = Number.parseInt(got.slice(end, lineEnd), 16)
    end = lineEnd + 2 + size + 2
  }
  return end <= got.length ? end : undefined
}

/** Sends raw bytes and reads until the server closes the connection; the request must ask for that. */
export async function sendRaw (url: string, bytes: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => { answer += text })
  socket.write(bytes)
  await new Promise<void>((resolve, reject) => socket.on('close', () => resolve()).on('error', reject))
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
    contentType: /^content-type: (.*)$/im.exec(head)?.[1],
    text: rest.join('\r\n\r\n')
  }
}
