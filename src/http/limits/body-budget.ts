// How many bytes of bodies this process works on at once, and who is refused when that is too much.
import type { App } from '../app-types.js'
import { isCsv } from '../bodies.js'
import { addressOf } from './rate-limit.js'
import { untilGone, whileAnswering } from './while-answering.js'

interface Limits {
  /** In bytes. A body takes several times its length while it is parsed, checked, stored and answered. */
  ofAll?: number | undefined
  /** Of all strangers together, as a part of that. */
  ofStrangers?: number | undefined
  /** How long a body waits for room, in milliseconds. */
  waitMs?: number | undefined
}

/** For the one who takes too much: a 429. */
export class TooManyBodies extends Error {
  override readonly name = 'TooManyBodies'
  readonly statusCode = 429
  constructor () {
    super('Too much of what you sent is being worked on: try again in a moment.')
  }
}

/** What a request takes beside its body. */
const leastBytes = 8 * 1024
/** CSV is streamed: no more of it is held. */
const mostOfCsv = 512 * 1024

interface Share { most: number, bytes: number, partOf?: Share }

interface Payer {
  share: Share
  bytes: number
  /** In the order in which they came. */
  arriving: Set<Body>
  /** How many have arrived and are not answered. */
  inWork: number
}

interface Body extends Flow {
  payer: Payer
  bytes: number
  /** What it needs to go on. */
  wants: number
  isEmpty: boolean
  isInWork: boolean
  patience?: NodeJS.Timeout
}

/** How a body is read. */
interface Flow {
  stop (): void
  go (): void
  refuse (error: Error): void
}

export interface OpenBody {
  /** So many bytes came. It may be stopped, and goes on or is refused later. */
  add (bytes: number): void
  /** All of it is there. */
  complete (): void
  /** Its request was answered, or its sender is gone. */
  release (): void
}

/** The payer that uses most is refused first, so what one client takes never costs another one its request. */
export class BodyBudget {
  readonly #all: Share
  readonly #strangers: Share
  readonly #payers = new Map<string, Payer>()
  readonly #waiting = new Set<Body>()
  readonly #waitMs: number

  constructor ({ ofAll = 16 * 2 ** 20, ofStrangers = 2 ** 20, waitMs = 5_000 }: Limits = {}) {
    this.#all = { most: ofAll, bytes: 0 }
    this.#strangers = { most: ofStrangers, bytes: 0, partOf: this.#all }
    this.#waitMs = waitMs
  }

  /** How many payers have something here. */
  get payers (): number {
    return this.#payers.size
  }

  /** Calls `go` at once where there is room. @param isEmpty nothing of it will arrive */
  open (name: string, isStranger: boolean, isEmpty: boolean, flow: Flow): OpenBody {
    const payer = this.#payers.get(name) ??
      { share: isStranger ? this.#strangers : this.#all, bytes: 0, arriving: new Set(), inWork: 0 }
    this.#payers.set(name, payer)
    const body: Body = { ...flow, payer, bytes: 0, wants: leastBytes, isEmpty, isInWork: false }
    payer.arriving.add(body)
    if (this.#fits(body)) this.#goOn(body)
    else this.#wait(body)
    return {
      add: (bytes) => {
        if (!payer.arriving.has(body)) return
        this.#charge(body, bytes)
        if (this.#fits(body)) this.#wake() // another one that waits may fit, too
        else this.#wait(body)
      },
      complete: () => { this.#complete(body) },
      release: () => {
        this.#remove(body)
        if (body.isInWork) payer.inWork--
        body.isInWork = false
        const isOver = payer.arriving.size + payer.inWork === 0
        if (isOver && this.#payers.get(name) === payer) this.#payers.delete(name)
        this.#wake()
      }
    }
  }

  #complete (body: Body): void {
    if (!body.payer.arriving.delete(body)) return
    this.#waiting.delete(body)
    clearTimeout(body.patience)
    body.isInWork = true
    body.payer.inWork++
  }

  #charge (body: Body, bytes: number): void {
    body.bytes += bytes
    body.payer.bytes += bytes
    for (const share of sharesOf(body.payer)) share.bytes += bytes
  }

  #remove (body: Body): void {
    this.#charge(body, -body.bytes)
    body.payer.arriving.delete(body)
    this.#waiting.delete(body)
    clearTimeout(body.patience)
  }

  /** Bodies that all wait for each other would never end: then the first one goes on, beyond the quarter. */
  #fits (body: Body): boolean {
    const { payer, wants } = body
    const isFirst = payer.inWork === 0 && payer.arriving.values().next().value === body
    return (isFirst || payer.bytes + wants <= payer.share.most / 4) && this.#hasRoom(body)
  }

  /** Makes room where those who take most have bodies that arrive: the newest of them are refused. */
  #hasRoom (body: Body): boolean {
    for (const share of sharesOf(body.payer)) {
      while (share.bytes + body.wants > share.most) {
        const heaviest = [...this.#payers.values()].filter((payer) => sharesOf(payer).includes(share))
          .reduce((most, payer) => payer.bytes > most.bytes ? payer : most, body.payer)
        const newest = [...heaviest.arriving].at(-1)
        if (newest === undefined || newest === body || heaviest.bytes === 0) return false
        this.#refuse(newest)
      }
    }
    return true
  }

  #wait (body: Body): void {
    body.stop()
    if (this.#waiting.has(body)) return // CSV is not stopped
    this.#waiting.add(body)
    body.patience = setTimeout(() => { this.#refuse(body) }, this.#waitMs)
  }

  #goOn (body: Body): void {
    this.#waiting.delete(body)
    clearTimeout(body.patience)
    this.#charge(body, body.wants)
    body.wants = 0
    if (body.isEmpty) this.#complete(body)
    body.go()
  }

  #refuse (body: Body): void {
    this.#remove(body)
    body.refuse(new TooManyBodies())
  }

  /** One of each payer: what it brings is counted before the next one goes on. */
  #wake (): void {
    if (this.#waiting.size === 0) return
    const woken = new Set<Payer>()
    for (const body of [...this.#waiting]) {
      if (woken.has(body.payer) || !this.#waiting.has(body) || !this.#fits(body)) continue
      woken.add(body.payer)
      this.#goOn(body)
    }
  }
}

const sharesOf = ({ share }: Payer): Share[] => share.partOf ? [share, share.partOf] : [share]

/**
 * The user pays, with all keys; the engine or the operator; a stranger by address. It begins with 8 KiB once it is
 * known who that is, and then counts bytes as they arrive, until the answer. No `100 Continue` asks for a body that has
 * no room.
 */
export function limitBodies (app: App, limits?: Limits): void {
  const budget = new BodyBudget(limits)
  const hold = whileAnswering(app)
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  app.addHook('onSend', async ({ headers, raw }, reply) => { // who waits in vain may send the body all the same, or not
    if (headers.expect !== undefined && !raw.readableDidRead) reply.header('connection', 'close')
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (['GET', 'HEAD', 'OPTIONS'].includes(request.method)) return done()
    const { user, headers, routeOptions: { config, bodyLimit = 0 } } = request
    const isStreamed = config.takesCsv === true && isCsv(request)
    const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity
    const isRefusedUnread = Number.isFinite(length) && length > bodyLimit && !isStreamed
    const gone = untilGone(request, reply)
    let isAsked = false
    let mayAdd = isStreamed ? mostOfCsv : Infinity
    payload.pause() // a listener alone would make it flow
    payload.on('error', () => {}).once('end', () => { body.complete() }).on('data', ({ length }: Buffer) => {
      body.add(Math.min(length, mayAdd))
      mayAdd -= Math.min(length, mayAdd)
    })
    const body = budget.open(user ? `${user.role} ${user.id}` : addressOf(request), !user, length === 0, {
      stop: () => { payload.pause() },
      go () {
        if (isAsked) return void payload.resume()
        isAsked = true
        if (headers.expect !== undefined && length > 0 && !isRefusedUnread) reply.raw.writeContinue()
        done()
      },
      refuse (error) {
        reply.header('connection', 'close') // more of it may come
        if (isAsked) payload.emit('error', error)
        else done(error)
      }
    })
    hold(request, gone, () => { body.release() })
  })
}
