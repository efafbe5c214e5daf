// Limits of one caller: requests a minute, bytes of bodies in work, reads at once. A caller beyond a limit gets a 429,
// or waits a moment for the others first.
import fastifyRateLimit, { normalizeIP, type RateLimitPluginOptions } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { setTimeout as delay } from 'node:timers/promises'
import { Shares, type Release } from '../commands/shares.js'
import { httpError } from '../domain/rejection.js'
import type { App } from './app-types.js'
import { isCsv } from './bodies.js'
import { userHash } from './request-log.js'

export interface RateLimit {
  /** Per user; 0 for no limit. */
  perMinute: number
  /** A connection of ioredis: processes share their counts of users. Without it, each counts for itself. */
  redis?: unknown
  /** Per address: documents, and requests whose token is refused. Each process counts for itself. */
  strangersPerMinute?: number
}

/** Each counts one request. @throws an error with status 429 when it is one too many */
interface RateLimits {
  ofUser (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** By address: documents, and requests whose token does not verify. */
  ofStranger (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Another count by address. */
  ofAddress (perMinute: number): (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
    exportPlaces: ExportPlaces
    /** Waits for the limit of this kind. Counts until it is answered or its reader gone. @throws TooManyReads */
    acquireReadSlot (kind: ReadKind, request: FastifyRequest, reply: FastifyReply): Promise<void>
  }
}

/** Users or addresses in the cache of a process. */
const remembered = 20_000
const timeWindow = 60_000

/** A page of documents is six requests. A client whose token is refused has no use for more. */
const usualForStrangers = 120

/** One IPv6 caller owns 64 bits of addresses, so these count as one; IPv4 in IPv6 is IPv4. */
const addressOf = ({ ip }: { ip?: string }) => normalizeIP(ip ?? '') // a closed connection has none

/**
 * If the counts of users cannot be read, requests pass: the limit protects the service and is not worth an outage.
 * Addresses never go to Redis.
 */
export async function registerRateLimits (
  app: FastifyInstance, { perMinute, redis, strangersPerMinute = usualForStrangers }: RateLimit
): Promise<void> {
  const byAddress = await limiter(app, { keyGenerator: addressOf })
  const ofAddress: RateLimits['ofAddress'] = (max) => {
    const options = { max, cache: remembered } // its type lacks `cache`, which a store of its own does not inherit
    const count = byAddress(options)
    return async (request, reply) => {
      const counted = await count(request)
      if (!counted.isAllowed && counted.isExceeded) tell(reply, counted)
    }
  }
  const byUser = perMinute > 0 && (await limiter(app, {
    max: perMinute,
    skipOnError: true,
    cache: remembered,
    nameSpace: 'ringledger:rate:',
    redis,
    keyGenerator: ({ user }) => userHash(user.id)
  }))()
  const ofUser: RateLimits['ofUser'] = async (request, reply) => {
    const counted = byUser && await byUser(request)
    if (counted && !counted.isAllowed) tell(reply, counted)
  }
  app.decorate('rateLimits', { ofUser, ofStranger: ofAddress(strangersPerMinute), ofAddress })
}

/** In a scope of its own: inside one that has the plugin, it would count by the keys and in the store of that one. */
async function limiter (app: FastifyInstance, options: RateLimitPluginOptions) {
  let { createRateLimit } = app
  await app.register(async (scope) => {
    await scope.register(fastifyRateLimit, { global: false, timeWindow, ...options })
    createRateLimit = scope.createRateLimit
  })
  return createRateLimit
}

type Counted = Extract<Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>, { isAllowed: false }>

/** @throws an error with status 429 when it is one too many */
function tell (reply: FastifyReply, { max, remaining, ttlInSeconds: seconds, isExceeded }: Counted): void {
  reply.headers({ 'x-ratelimit-limit': max, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': seconds })
  if (!isExceeded) return
  reply.header('retry-after', seconds)
  throw httpError(429, `Too many requests: try again in ${seconds} seconds.`)
}

/** The work for a client that left goes on until its answer is made: it holds its share until then. */
const answerMade = new WeakMap<FastifyRequest, () => void>()

/** Calls `release` once the answer was made and `gone` is aborted. */
function hold (request: FastifyRequest, gone: AbortSignal, release: () => void): void {
  answerMade.set(request, () => { onceGone(gone, release) })
}

/** Calls `act` when `gone` is aborted, or at once if it was. */
export function onceGone (gone: AbortSignal, act: () => void): void {
  if (gone.aborted) act()
  else gone.addEventListener('abort', act)
}

/** Aborted when the answer was sent or its reader is gone. */
export function untilGone ({ raw: { socket } }: FastifyRequest, { raw: answer }: FastifyReply): AbortSignal {
  const over = new AbortController()
  const end = () => {
    answer.off('close', end)
    socket.off('close', end)
    over.abort(isOver)
  }
  answer.on('close', end)
  socket.setMaxListeners(0).on('close', end) // pipelined answers that wait do not see it, and there may be many of them
  if (socket.destroyed) end()
  return over.signal
}

/** One error for all: making one for each request would cost a stack trace. */
const isOver = new Error('the request was answered, or its sender is gone')

interface Limits {
  /** Bytes. A body takes several times its length while it is parsed, checked, stored and answered. */
  ofAll?: number | undefined
  /** How long a body waits for room, in milliseconds. */
  waitMs?: number | undefined
}

export class TooManyBodies extends Error {
  override readonly name = 'TooManyBodies'
  readonly statusCode = 429
  constructor () {
    super('Too much of what you sent is being worked on: try again in a moment.')
  }
}

/** Bytes that a request takes without its body. */
const leastBytes = 8 * 1024
/** CSV is streamed, so no more bytes of it are held. */
const mostOfCsv = 512 * 1024

interface Payer {
  bytes: number
  /** Oldest first. */
  arriving: Set<Body>
  /** Bodies that have arrived and are not answered. */
  inWork: number
}

interface Body extends Flow {
  payer: Payer
  bytes: number
  /** Bytes that it needs to go on. */
  wants: number
  isEmpty: boolean
  isInWork: boolean
  patience?: NodeJS.Timeout
}

/** How the budget steers the reading of a body. */
interface Flow {
  stop (): void
  go (): void
  refuse (error: Error): void
}

/** Refuses the payer that uses most first, so what one client takes never costs another one its request. */
class BodyBudget {
  readonly #payers = new Map<string, Payer>()
  readonly #waiting = new Set<Body>()
  readonly #most: number
  readonly #waitMs: number
  #bytes = 0

  constructor ({ ofAll = 16 * 2 ** 20, waitMs = 5_000 }: Limits = {}) {
    this.#most = ofAll
    this.#waitMs = waitMs
  }

  /** Calls `go` at once if there is room. @param isEmpty nothing of it will arrive */
  open (name: string, isEmpty: boolean, flow: Flow) {
    const payer = this.#payers.get(name) ?? { bytes: 0, arriving: new Set(), inWork: 0 }
    this.#payers.set(name, payer)
    const body: Body = { ...flow, payer, bytes: 0, wants: leastBytes, isEmpty, isInWork: false }
    payer.arriving.add(body)
    if (this.#fits(body)) this.#goOn(body)
    else this.#wait(body)
    return {
      /** Counts bytes that came. May stop the body, which goes on or is refused later. */
      add: (bytes: number) => {
        if (!payer.arriving.has(body)) return
        this.#charge(body, bytes)
        if (this.#fits(body)) this.#wake() // another body that waits may fit, too
        else this.#wait(body)
      },
      /** All bytes came. */
      complete: () => { this.#complete(body) },
      /** Its request was answered, or its sender is gone. */
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
    this.#bytes += bytes
  }

  #remove (body: Body): void {
    this.#charge(body, -body.bytes)
    body.payer.arriving.delete(body)
    this.#waiting.delete(body)
    clearTimeout(body.patience)
  }

  /** A payer may use a quarter of all. Only its first body may exceed that, else all might wait forever. */
  #fits (body: Body): boolean {
    const { payer, wants } = body
    const isFirst = payer.inWork === 0 && payer.arriving.values().next().value === body
    return (isFirst || payer.bytes + wants <= this.#most / 4) && this.#hasRoom(body)
  }

  /** Makes room: refuses the newest arriving bodies of the payers that use most. */
  #hasRoom (body: Body): boolean {
    while (this.#bytes + body.wants > this.#most) {
      const heaviest = [...this.#payers.values()]
        .reduce((most, payer) => payer.bytes > most.bytes ? payer : most, body.payer)
      const newest = [...heaviest.arriving].at(-1)
      if (newest === undefined || newest === body || heaviest.bytes === 0) return false
      this.#refuse(newest)
    }
    return true
  }

  #wait (body: Body): void {
    body.stop()
    if (this.#waiting.has(body)) return // CSV goes on arriving: its route reads it
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

  /** Wakes one body of each payer, so that its bytes are counted before the next one goes on. */
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

/**
 * The user pays, with all keys; the engine or the operator. A body begins with 8 KiB, then counts bytes as they arrive,
 * until the answer. Sends no `100 Continue` for a body that has no room.
 */
export function limitBodies (app: App, limits?: Limits): void {
  const budget = new BodyBudget(limits)
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  app.addHook('onSend', async (request, reply) => {
    answerMade.get(request)?.()
    const { headers, raw } = request // a client without 100 Continue may send the body anyway
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
    payload.pause() // a listener alone would start the flow
    payload.on('error', () => {}).once('end', () => { body.complete() }).on('data', ({ length }: Buffer) => {
      body.add(Math.min(length, mayAdd))
      mayAdd -= Math.min(length, mayAdd)
    })
    const body = budget.open(`${user.role} ${user.id}`, length === 0, {
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

/** Lists and histories are large, an export takes as long as its reader; `item` is everything else. */
export type ReadKind = 'list' | 'item' | 'export'

/** The user has too many reads under way: a 429. */
export class TooManyReads extends Error {
  override readonly name = 'TooManyReads'
}

/** How long a burst makes other requests wait. */
const burstMs = 2

/** Splits long work, uploads or exports, into bursts, one at a time, so that other requests run in between. */
export class Bursts {
  #next = Promise.resolve()

  /** @param everyMs least time between the starts of two bursts */
  constructor (private readonly everyMs: number) {}

  /** Waits for the next burst. @returns when it ends, by `performance.now()` */
  async next (): Promise<number> {
    const next = this.#next
    this.#next = next.then(() => delay(this.everyMs))
    await next
    return performance.now() + burstMs
  }
}

/** Of all users together: each reads from Postgres on a connection of its own. */
const mostExports = 6
/** A waiting export waits for Postgres alone: one with a slow reader makes room. */
const exportWaitMs = 20_000

/** Bounds the exports that read from Postgres. One that waits for its reader makes room once another one wants it. */
class ExportPlaces {
  /** Formats lines in bursts; reading their rows takes as long. */
  readonly bursts = new Bursts(16)
  readonly #places = new Shares(mostExports, exportWaitMs)
  readonly #stalled = new Set<() => void>()
  #wanted = 0

  async acquire (gone: AbortSignal): Promise<Release | undefined> {
    if (this.#places.hasFree('')) return await this.#places.acquire('', gone)
    this.#wanted++
    const [longest] = this.#stalled
    longest?.()
    return await this.#places.acquire('', gone).finally(() => { this.#wanted-- })
  }

  /** While a reader holds its export up: calls `giveUp` once another export wants room. @returns ends that */
  stall (giveUp: () => void): () => void {
    if (this.#wanted > 0) giveUp()
    else this.#stalled.add(giveUp)
    return () => { this.#stalled.delete(giveUp) }
  }
}

export function registerReadSlots (app: FastifyInstance): void {
  const waitMs = 5_000
  // A list holds 1 MiB here, and several times that while it is made.
  const slots = { list: new Shares(3, waitMs), item: new Shares(20, waitMs), export: new Shares(2, waitMs) }
  app.decorate('exportPlaces', new ExportPlaces())
  app.decorate('acquireReadSlot', async (kind, request, reply) => {
    const gone = untilGone(request, reply)
    const release = await slots[kind].acquire(request.user.id, gone)
    if (!release) throw new TooManyReads('Too many of your reads are being answered: try again in a moment.')
    hold(request, gone, release)
  })
}
