// The steps of every route that changes something: validate, claim, decide, append, read back, keep the answer.
import type { FastifyContextConfig, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import Type, { type Static, type TObject } from 'typebox'
import type { Origin, Outcome, HandleCommand } from '../commands/handle.js'
import {
  KeyInFlight, mayHaveWritten, type Claim, type Idempotency, type LedgerCommand, type Try
} from '../commands/idempotency.js'
import { type Ids, passOverTaken } from '../commands/ids.js'
import type { Circumstances, Decider, DomainEvent } from '../domain/events.js'
import type { IdKind } from '../domain/json.js'
import { invalid, Rejection, soundBody, type Submitted } from '../domain/rejection.js'
import { only } from './auth.js'
import { askRules, received } from './bodies.js'
import type { Positions } from '../../projections/engine/positions.js'
import type { RequestHeader } from './docs/describe.js'
import { etagOfRevision, isMatch, readBack, type Source, type Written } from './read-position.js'
import type { Role } from './credentials.js'
import { traceParentOf } from './request-log.js'

/** A command's route. The fields stand in the order in which `handle` uses them. */
export interface CommandRoute<
  Schema extends TObject, Facts extends object, Command extends object, State, Event extends DomainEvent, Answer
> {
  /** Absent when the route takes no body. */
  body?: Schema
  /** Looks up what `validate` and `stream` need. */
  facts? (fields: Partial<Static<Schema>>): Promise<Facts>
  /** Turns the body into a command. @throws Rejection `invalid` with every field that is wrong */
  validate (submitted: Submitted<Static<Schema>>, facts: Partial<Facts>): Command
  /** How many ids of which kind the command needs; may be none. */
  ids? (body: Static<Schema>): { kind: IdKind, count: number }
  /** Makes a secret that the answer shows and no event holds. A retry gets the same one. */
  secret? (): string
  stream (body: Static<Schema>, ids: readonly number[], facts: Partial<Facts>, commandId: string): string
  /** The user whose person keys seal the events, if their data has no `user_id`. */
  ofUser? (facts: Partial<Facts>): string | undefined
  /** Writes what must exist on other streams or in rows before the append. A retry runs it again. */
  first? (body: Static<Schema>, ids: readonly number[], origin: Origin): Promise<void>
  /** The stream is most likely new: skips the read. */
  isNew?: boolean
  /** Only the owner sees the stream. Not for a create: it must see that its id is taken. */
  isForOwner?: boolean
  decider: Decider<State, Event, Command & Circumstances & Pick<Try, 'commandId' | 'secret'>>
  /** Sends the revision of the state as the ETag. */
  etag?: boolean
  /** The ETag that If-Match must name, if that is not the revision of the state. */
  etagBefore? (state: State, facts: Partial<Facts>): string
  answer (handled: Handled<State, Facts, Static<Schema>>): Answer | Promise<Answer>
  /** Streams of the persons whom the answer shows. Erasing one of them drops the kept answer. */
  about? (answer: Answer): string[]
  /** Brings a kept answer up to date before a retry gets it. */
  again? (kept: Answer): Promise<Answer>
}

export interface Handled<State, Facts = object, Body = object> extends Outcome<NonNullable<State>>, Pick<Try, 'ids' | 'secret'> {
  body: Body
  facts: Partial<Facts>
  /** From the read model if that catches up in time, else folded. */
  readBack: <Data>(written: Written<Data>) => Promise<Data>
}

interface CommandServices {
  idempotency: Idempotency
  commands: HandleCommand
  ids: Ids
  positions: Positions
}

/** Options of a command's route. `failure` is the message of its 500. */
export const command = <Schema extends FastifySchema>(
  role: Role, failure: string, requestHeaders: RequestHeader[], schema: Schema, config: FastifyContextConfig = {}
) => ({ schema, attachValidation: true, onRequest: only(role), config: { failure, requestHeaders, ...config } })

/** Handles one request. @throws Rejection, and errors of the back ends, which errors.ts turns into answers */
export type HandleRoute = ReturnType<typeof commandRoutes>

/**
 * A body that does not fit its schema is refused first; without an Idempotency-Key, so is one that the rules refuse.
 * With a key, a kept answer comes before the rules: it is repeated even if they would refuse its body by now.
 */
export function commandRoutes ({ idempotency, commands, ids, positions }: CommandServices) {
  return async function handle<
    Schema extends TObject, Facts extends object, Command extends object, State, Event extends DomainEvent, Answer
  > (
    request: FastifyRequest, reply: FastifyReply, route: CommandRoute<Schema, Facts, Command, State, Event, Answer>
  ): Promise<Answer> {
    // A route without a body infers no `Schema` from it: this one has no properties.
    const submitted = received(request, reply, route.body ?? noBody as unknown as Schema)
    const asking = askRules(submitted, route)
    await asking.catch(() => {}) // a kept answer needs no facts
    if (submitted.refused) (await asking).validated()
    const claim = claimOf(request)
    if (claim.key === undefined) (await asking).validated()
    const body = soundBody(submitted, [])
    const { kind, count } = route.ids?.(body) ?? none
    const reserve = { ids: async () => kind && count > 0 ? await ids.take(kind, count) : [], secret: route.secret }

    let isRetry = false
    const run = async (tried: Try) => {
      const { facts, validated } = await asking
      const { commandId, ids, secret } = tried
      isRetry = tried.isRetry
      const origin = { commandId, isRetry, ...senderOf(request), ofUser: route.ofUser?.(facts) }
      const known = { userId: request.user.id, now: new Date().toISOString(), ids, commandId, secret }
      const stream = route.stream(body, ids, facts, commandId)
      const outcome = await written(tried, async () => {
        if (route.first) {
          if (!isRetry) validated() // a retry's earlier try may have reached the log: it is looked for first
          tried.mayBeWritten = true
          await route.first(body, ids, origin)
        }
        return await commands({
          aggregate: route.decider,
          stream,
          decide: (state) => route.decider.decide({ ...validated(), ...known }, state),
          origin,
          isNew: route.isNew,
          isForOwner: route.isForOwner,
          condition: ({ state, stateRevision }) =>
            refuseUnlessMatching(request, () => route.etagBefore?.(state, facts) ?? etagOfRevision(stateRevision))
        })
      })
      reply.header('x-read-position', String(outcome.position))
      if (outcome.wasHandled) reply.header('idempotent-replayed', 'true')
      if (route.etag) reply.header('etag', etagOfRevision(outcome.stateRevision))
      let source: Source | undefined
      const readWritten = async <Data>(what: Written<Data>) => {
        source = what.source
        return await readBack(positions, reply, outcome, what)
      }
      const { state } = outcome
      if (state == null) throw new Error('a handled command left nothing')
      const answer = await route.answer({ ...outcome, state, ids, secret, body, facts, readBack: readWritten })
      const given = { status: reply.statusCode, headers: keptHeaders(reply), body: answer, source }
      const about = [stream, ...route.about?.(answer) ?? []]
      // If that fails, a retry finds the events by the command id.
      await tried.keep({ ...given, about, isUnchanged: !(outcome.isAppended || outcome.wasHandled) }).catch(() => {})
      return given
    }

    const given = await passOverTaken(() => idempotency.once(claim, reserve, run)).catch(async (error: unknown) => {
      // If a back end fails, the rules may refuse the body all the same, unless an earlier try may have written.
      if (!(error instanceof Rejection || error instanceof KeyInFlight || isRetry)) (await asking).validated()
      throw error
    })
    if (!given.isReplay) return given.body
    reply.code(given.status).headers({ ...given.headers, 'idempotent-replayed': 'true' })
    const { body: repeated, headers = {}, source } = given
    const position = BigInt(headers['x-read-position'] ?? 0)
    if (source !== undefined) {
      await readBack(positions, reply, { position }, { source: source as Source, folded: () => repeated })
    }
    return route.again ? await route.again(repeated) : repeated
  }
}

/** Runs `write`, and notes whether it may have written. */
async function written<Result> (tried: Try, write: () => Promise<Result>): Promise<Result> {
  try {
    const result = await write()
    tried.mayBeWritten = true
    return result
  } catch (error) {
    tried.mayBeWritten = mayHaveWritten(error, tried.mayBeWritten)
    throw error
  }
}

/** Headers that a replay repeats, besides status and body. */
const keptHeaders = (reply: FastifyReply) => Object.fromEntries(['x-read-position', 'etag'].flatMap((name) =>
  reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : []))

const none = { kind: undefined, count: 0 }
const noBody = Type.Object({})

/** Only users have a `userId`: the call engine has none. */
function senderOf (request: FastifyRequest) {
  const { id, user } = request
  return { correlationId: id, userId: user.role === 'user' ? user.id : undefined, traceparent: traceParentOf(request) }
}

/** Runs a ledger command and returns the body of its answer. @throws KeyInFlight, Rejection */
export type HandleLedger = ReturnType<typeof ledgerRoutes>

/** For routes that change the delivery log without appending an event. Safe to retry: all or nothing. */
export function ledgerRoutes (idempotency: Idempotency) {
  return async function handle<Facts, Body> (
    request: FastifyRequest, reply: FastifyReply, command: LedgerCommand<Facts, Body>
  ): Promise<Body> {
    const { status, body, isReplay } = await idempotency.onceInLedger(claimOf(request), command)
    if (isReplay) reply.header('idempotent-replayed', 'true')
    reply.code(status)
    return body
  }
}

// Idempotency-Key and If-Match, on routes that name them in their config.

/**
 * Reads what identifies the request when it is retried.
 * @throws Rejection `invalid` when its Idempotency-Key is given twice, or is not 1 to 255 printable ASCII characters
 */
function claimOf (request: FastifyRequest): Claim {
  const { method, routeOptions, url, body, user, raw } = request
  const [key, ...more] = takes(request, 'Idempotency-Key') ? raw.headersDistinct['idempotency-key'] ?? [] : []
  if (more.length > 0 || (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key))) {
    throw invalid({ 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters, once'] })
  }
  return { userId: user.id, method, route: routeOptions.url ?? url, key, body, path: url }
}

/** @throws Rejection if If-Match is there and does not name the present ETag */
export function refuseUnlessMatching (request: FastifyRequest, present: () => string): void {
  const given = takes(request, 'If-Match') ? request.headers['if-match'] : undefined
  if (given === undefined || isMatch(given, present)) return
  throw new Rejection('revision-mismatch', 'It was changed in the meantime: read it again and send its present ETag.')
}

const takes = ({ routeOptions }: FastifyRequest, header: RequestHeader) =>
  routeOptions.config.requestHeaders?.includes(header)
