// What every route that changes something does: validate, claim, decide, append, read back, keep the answer.
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

/** One route, in the order in which things happen. */
export interface CommandRoute<
  Schema extends TObject, Facts extends object, Command extends object, State, Event extends DomainEvent, Answer
> {
  /** Absent where it has none. */
  body?: Schema
  /** What `validate` and the stream need to look up. */
  facts? (fields: Partial<Static<Schema>>): Promise<Facts>
  /** What the body asks for. @throws Rejection `invalid` with every field that is wrong */
  validate (submitted: Submitted<Static<Schema>>, facts: Partial<Facts>): Command
  /** How many ids of what kind the command needs; it may be none. */
  ids? (body: Static<Schema>): { kind: IdKind, count: number }
  /** Makes what the answer shows and no event holds: a retry shows it again. */
  secret? (): string
  stream (body: Static<Schema>, ids: readonly number[], facts: Partial<Facts>, commandId: string): string
  /** Whose persons the events name, where they do not say so themselves. */
  ofUser? (facts: Partial<Facts>): string | undefined
  /** What has to be settled on other streams before the append; the same again when the request is retried. */
  first? (body: Static<Schema>, ids: readonly number[], origin: Origin): Promise<void>
  /** The stream is most likely new. */
  isNew?: boolean
  /** To others than its owner the stream is as if it were not there. Not where it counts that it is: an id is taken. */
  isForOwner?: boolean
  decider: Decider<State, Event, Command & Circumstances & Pick<Try, 'commandId' | 'secret'>>
  /** The answer carries the revision of the state as its ETag. */
  etag?: boolean
  /** The ETag of what was shown before the command, where that is not the revision: If-Match is compared with it. */
  etagBefore? (state: State, facts: Partial<Facts>): string
  answer (handled: Handled<State, Facts, Static<Schema>>): Answer | Promise<Answer>
  /** The streams that stand for persons whom the answer shows: it is kept until one of them is erased. */
  about? (answer: Answer): string[]
  /** What is sent to a retry, where the answer that was kept does not say all of it. */
  again? (kept: Answer): Promise<Answer>
}

/** A command that was handled. */
export interface Handled<State, Facts = object, Body = object> extends Outcome<State>, Pick<Try, 'ids' | 'secret'> {
  body: Body
  facts: Partial<Facts>
  /** The data of the answer, from the read model if that has caught up in time. */
  readBack: <Data>(written: Written<Data>) => Promise<Data>
}

interface CommandServices {
  idempotency: Idempotency
  commands: HandleCommand
  ids: Ids
  positions: Positions
}

/** Options of a command's route: who may send it, what its 500 says, which headers it takes, what is documented. */
export const command = <Schema extends FastifySchema>(
  role: Role, failure: string, requestHeaders: RequestHeader[], schema: Schema, config: FastifyContextConfig = {}
) => ({ schema, attachValidation: true, onRequest: only(role), config: { failure, requestHeaders, ...config } })

/** Handles one request. @throws Rejection, and what the back ends throw: errors.ts turns it into the answer */
export type HandleRoute = ReturnType<typeof commandRoutes>

/**
 * A body that is wrong is refused before anything is prepared for it; without an Idempotency-Key, before anything else.
 * An answer that was given under the key comes first: it stays what it was, though its body would be refused by now.
 */
export function commandRoutes ({ idempotency, commands, ids, positions }: CommandServices) {
  return async function handle<
    Schema extends TObject, Facts extends object, Command extends object, State, Event extends DomainEvent, Answer
  > (
    request: FastifyRequest, reply: FastifyReply, route: CommandRoute<Schema, Facts, Command, State, Event, Answer>
  ): Promise<Answer> {
    // A route without a schema of its body is generic in none: its `Schema` has no properties.
    const submitted = received(request, reply, route.body ?? noBody as unknown as Schema)
    const asking = askRules(submitted, route)
    await asking.catch(() => {}) // an answer that was given needs no facts
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
          if (!isRetry) validated() // else an earlier try may have come as far as the log
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
      const answer = await route.answer({ ...outcome, ids, secret, body, facts, readBack: readWritten })
      const given = { status: reply.statusCode, headers: keptHeaders(reply), body: answer, source }
      const about = [stream, ...route.about?.(answer) ?? []]
      // Without it, a retry finds the events by the id of the command.
      await tried.keep({ ...given, about, isUnchanged: !(outcome.isAppended || outcome.wasHandled) }).catch(() => {})
      return given
    }

    const given = await passOverTaken(() => idempotency.once(claim, reserve, run)).catch(async (error: unknown) => {
      // A body that is wrong by itself is refused without a back end, unless its command may stand.
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

/** Does what writes, and notes whether it may have. */
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

/** What a replay repeats besides status and body. */
const keptHeaders = (reply: FastifyReply) => Object.fromEntries(['x-read-position', 'etag'].flatMap((name) =>
  reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : []))

const none = { kind: undefined, count: 0 }
const noBody = Type.Object({})

/** The call engine is not a user. */
function senderOf (request: FastifyRequest) {
  const { id, user } = request
  return { correlationId: id, userId: user.role === 'user' ? user.id : undefined, traceparent: traceParentOf(request) }
}

/** Runs the command of one request in the ledger and gives the body of its answer. @throws KeyInFlight, Rejection */
export type HandleLedger = ReturnType<typeof ledgerRoutes>

/** What a route does that changes the delivery log and writes no event: safe to retry, all or nothing. */
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

// The headers that make a retry safe, of routes that name them in their config.

/**
 * What the request is recognised by when it comes again.
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

/** @throws Rejection where If-Match names other tags than the present one */
export function refuseUnlessMatching (request: FastifyRequest, present: () => string): void {
  const given = takes(request, 'If-Match') ? request.headers['if-match'] : undefined
  if (given === undefined || isMatch(given, present)) return
  throw new Rejection('revision-mismatch', 'It was changed in the meantime: read it again and send its present ETag.')
}

const takes = ({ routeOptions }: FastifyRequest, header: RequestHeader) =>
  routeOptions.config.requestHeaders?.includes(header)
