// A TCP proxy that loses answers, freezes and cuts connections: the network between two processes, at its worst.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '@ringledger/embedded-postgres/testing'
import type { Teardown } from '../teardown.js'

export async function tcpProxy (t: Teardown, targetPort: number): Promise<TcpProxy> {
  const proxy = new TcpProxy(targetPort, await freePort())
  await proxy.accept()
  t.teardown(() => proxy.close())
  return proxy
}

export class TcpProxy {
  readonly port: number
  connections = 0
  readonly #sockets = new Set<Socket>()
  readonly #stranded = new WeakSet<Socket>()
  readonly #server = createServer((client) => this.#connect(client))
  #target: number
  #passes = { requests: true, answers: true }
  #lastWords: string | undefined
  #resets = false

  constructor (targetPort: number, port: number) {
    this.#target = targetPort
    this.port = port
  }

  loseAnswers (): void {
    this.#passes = { requests: true, answers: false }
  }

  /** Requests pass, and answers too until a request holds this text; that answer and the later ones are lost. */
  loseAnswersAfter (text: string): void {
    this.#lastWords = text
  }

  /** From now on nothing passes in either direction, and no connection is closed. */
  freeze (): void {
    this.#passes = { requests: false, answers: false }
  }

  /** Ends every connection; new ones pass in both directions again, at once. */
  cut (): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#pass()
  }

  /** Freezes the present connections without closing them; new ones pass. @returns how many it froze */
  strand (): number {
    for (const socket of this.#sockets) this.#stranded.add(socket)
    return this.#sockets.size / 2 // each has a socket on either side
  }

  /** Ends every connection and refuses new ones, until `accept`. */
  async close (): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** Listens on the same port again, and lets everything pass. */
  async accept (): Promise<void> {
    this.#pass()
    this.#server.listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** From now on every new connection is reset as soon as it is open, until `accept` or `cut`. */
  reset (): void {
    this.#resets = true
  }

  leadTo (port: number): void {
    this.#target = port
  }

  #connect (client: Socket): void {
    this.connections += 1
    if (this.#resets) return void client.on('error', () => {}).resetAndDestroy()
    const upstream = connect(this.#target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket)
      socket.setNoDelay(true) // or small pieces wait 40 ms for an acknowledgement
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      if (this.#lastWords !== undefined && bytes.includes(this.#lastWords)) this.loseAnswers()
      if (this.#passes.requests && !this.#stranded.has(client)) upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (this.#passes.answers && !this.#stranded.has(upstream)) client.write(bytes)
    })
  }

  #pass (): void {
    this.#passes = { requests: true, answers: true }
    this.#lastWords = undefined
    this.#resets = false
  }
}
