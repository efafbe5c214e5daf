// A TCP server on loopback that does as the test tells it with each connection.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Teardown } from '../../support/teardown.js'
import { createSocket } from 'node:dgram'

export async function rawServer (
  t: Teardown, serve: (socket: Socket, count: number) => void
): Promise<{ url: string, connections: () => number }> {
  let count = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    serve(socket, ++count)
  })
    .listen(0, '127.0.0.1')
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}/`, connections: () => count }
}

export interface Question { name: string, type: 'A' | 'AAAA' }

/** Addresses of the type in the question, an error, or undefined: then no answer is sent. */
export type DnsAnswer = string[] | 'NXDOMAIN' | 'SERVFAIL' | undefined

export interface DnsStub {
  /** `address:port`, as a resolver takes it. */
  server: string
  asked: Question[]
}

const types = new Map([[1, 'A'], [28, 'AAAA']] as const)
const codes = { NXDOMAIN: 3, SERVFAIL: 2 }
const headerBytes = 12

/** `count` is the number of times that this question came, this time included. The time to live of answers is 0. */
export async function dnsStub (
  t: Teardown, answer: (question: Question, count: number) => DnsAnswer
): Promise<DnsStub> {
  const asked: Question[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const question = questionOf(message)
    if (!question) return
    asked.push(question)
    const same = asked.filter(({ name, type }) => name === question.name && type === question.type)
    const given = answer(question, same.length)
    if (given !== undefined) socket.send(response(message, given), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { server: `127.0.0.1:${socket.address().port}`, asked }
}

/** Where the first question ends: after its name, type and class. */
const endOf = (message: Buffer) => message.indexOf(0, headerBytes) + 5

function questionOf (message: Buffer): Question | undefined {
  const labels: string[] = []
  for (let at = headerBytes, length = message[at]; length; at += length + 1, length = message[at]) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
  }
  const type = types.get(message.readUInt16BE(endOf(message) - 4) as 1 | 28)
  return type && { name: labels.join('.'), type }
}

function response (message: Buffer, given: string[] | 'NXDOMAIN' | 'SERVFAIL'): Buffer {
  const addresses = Array.isArray(given) ? given : []
  const header = Buffer.from(message.subarray(0, headerBytes))
  header.writeUInt16BE(0x8180 | (Array.isArray(given) ? 0 : codes[given]), 2)
  for (const [place, count] of [1, addresses.length, 0, 0].entries()) header.writeUInt16BE(count, 4 + 2 * place)
  return Buffer.concat([header, message.subarray(headerBytes, endOf(message)), ...addresses.map(record)])
}

/** A record for the name of the question. */
function record (address: string): Buffer {
  const data = address.includes(':') ? bytesOfV6(address) : Buffer.from(address.split('.').map(Number))
  const head = Buffer.alloc(headerBytes)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(data.length === 4 ? 1 : 28, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function bytesOfV6 (address: string): Buffer {
  const [left = '', right = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string) => part === '' ? [] : part.split(':')
  const [before, after] = [groups(left), groups(right)]
  const all = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
