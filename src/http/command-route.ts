// What every route that changes something does: validate, decide, append, answer; safe to retry, and read back.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject } from 'typebox'
import type { CommandRequest, Origin } from '../commands/command-request.js'
import type { Claim, Idempotency, Once, Reserved } from '../commands/idempotency/idempotency.js'
import { type Ids, passOverTaken } from '../commands/ids.js'
import type { Circumstances, Decider } from '../domain/decider.js'
import type { DomainEvent } from '../domain/events.js'
import type { IdKind } from '../domain/id-kinds.js'
import { invalid, Rejection } from '../domain/rejection.js'
import { soundBody, type Submitted } from '../domain/validation.js'
import { etagOfRevision, isMatch } from './etags.js'
import { only } from './auth.js'
import type { Role } from './jwt-settings.js'
import type { RequestHeader } from './docs/describe.js'
import { askRules, received } from './bodies.js'
import type { Positions } from '../../projections/engine/positions.js'
import { readBack, type Written } from './read-position.js'
import { traceParentOf } from './request-log.js'

export type { Written }

/** One route, in the order in which things happen. */
export interface CommandRoute<
  Schema extends TObject, Facts extends object, Command extends object, State, Event extends DomainEvent, Answer
> {
  body: Schema
  /** What `validate` and the stream need to look up. */
  facts? (fields: Partial<Static<Schema>>): Promise<Facts>
  /** What the body asks for. @throws Rejection `invalid` with every field that is wrong */
  validate (submitted: Submitted<Static<Schema>>, facts: Partial<Facts>): Command
  /** How many ids of what kind the command needs; it may be none. */
  ids? (body: Static<Schema>): { kind: IdKind, count: number }
  stream (body: Static<Schema>, ids: readonly number[], facts: Partial<Facts>, commandId: string): string
  /** Whose persons the events name, where they do not say so themselves. */
  ofUser? (facts: Partial<Facts>): string | undefined
  /** What has to be settled on other streams before the append; the same again when the request is retried. */
  first? (body: Static<Schema>, ids: readonly number[], origin: Origin): Promise<void>
  /** The stream is most likely new. */
  isNew?: boolean
  /** To others than its owner the stream is as if it were not there. Not where it counts that it is: an id is taken. */
  isForOwner?: boolean
  decider: Decider<State, Event, Command & Circumstances & Pick<Origin, 'commandId'>>
  /** The answer carries the revision of the state as its ETag. */
  etag?: boolean
  /** The ETag of what was shown before the command, where that is not the revision: If-Match is compared with it. */
  etagBefore? (state: State, facts: Partial<Facts>): string
  answer (handled: Handled<State, Facts, Static<Schema>>): Answer | Promise<Answer>
}

/** A command that was handled. */
export interface Handled<State, Facts = object, Body = object> extends Once<State> {
  body: Body
  facts: Partial<Facts>
  /** The data of the answer, from the read model if that has caught up in time. */
  readBack: <Data>(written: Written<Data>) => Promise<Data>
}

export interface CommandServices {
  idempotency: Idempotency
  ids: Ids
  positions: Positions
}

/** Options of a command's route: who may send it, what its 500 says, and which headers it takes. */
export const command = (role: Role, failure: string, ...requestHeaders: RequestHeader[]) =>
  ({ attachValidation: true, onRequest: only(role), config: { failure, requestHeaders } })

/** The same for a route that no API key may call. */
export function tokenCommand (...given: Parameters<typeof command>) {
  const { config, ...options } = command(...given)
  return { ...options, config: { ...config, isClosedToKeys: true } }
}

/** Handles one request. @throws Rejection, and what the back ends throw: errors.ts turns it into the answer */
export type HandleRoute = ReturnType<typeof commandRoutes>

/**
 * A body that is wrong is refused before anything is prepared for it; without an Idempotency-Key, before anything else.
 * An answer that was given under the key comes first: it stays what it was, though its body would be refused by now.
 */
export function commandRoutes ({ idempotency, ids, positions }: CommandServices) {
  return async function handle<
    Schema extends TObject, Facts extends object, Command extends object, State, Event extends DomainEvent, Answer
  > (
    request: FastifyRequest, reply: FastifyReply, route: CommandRoute<Schema, Facts, Command, State, Event, Answer>
  ): Promise<Answer> {
    const { decider, isNew, isForOwner, etagBefore } = route
    const submitted = received(request, reply, route.body)
    const { facts, validated } = await askRules(submitted, route)
    if (submitted.refused) validated()
    const claim = claimOf(request)
    if (claim.key === undefined) validated()
    const body = soundBody(submitted, [])
    const { kind, count } = route.ids?.(body) ?? none
    const takeIds = async () => kind && count > 0 ? await ids.take(kind, count) : []
    const known = { userId: request.user.id, now: new Date().toISOString() }
    const requestFor = ({ ids, ...reserved }: Reserved): CommandRequest<State, Event> => {
      const origin = { ...reserved, ...senderOf(request), ofUser: route.ofUser?.(facts) }
      return {
        aggregate: decider,
        stream: route.stream(body, ids, facts, origin.commandId),
        decide: (state) => decider.decide({ ...validated(), ...known, ids, commandId: origin.commandId }, state),
        origin,
        first: route.first && (() => firstOf(origin, validated, async () => await route.first?.(body, ids, origin))),
        isNew,
        isForOwner,
        condition: ({ state, stateRevision }) =>
          refuseUnlessMatching(request, () => etagBefore?.(state, facts) ?? etagOfRevision(stateRevision))
      }
    }
    const handling = passOverTaken(() => idempotency.once(claim, takeIds, requestFor))
    const outcome = await handling.catch((error: unknown) => {
      if (!(error instanceof Rejection)) validated() // a body that is wrong by itself is refused without a back end
      throw error
    })
    nameOutcome(reply, outcome, route.etag)
    const readWritten = <Data>(written: Written<Data>) => readBack(positions, reply, outcome, written)
    return await route.answer({ ...outcome, body, facts, readBack: readWritten })
  }
}

/** Nothing is prepared for what is refused. An earlier try may have come as far as the log: then it is so again. */
async function firstOf ({ isRetry }: Origin, validated: () => unknown, first: () => Promise<void>): Promise<void> {
  if (!isRetry) validated()
  await first()
}

const none = { kind: undefined, count: 0 }

/** The call engine is not a user. */
function senderOf (request: FastifyRequest) {
  const { id, user } = request
  return { correlationId: id, userId: user.role === 'user' ? user.id : undefined, traceparent: traceParentOf(request) }
}

function nameOutcome (reply: FastifyReply, { position, stateRevision, isReplay }: Once<unknown>, etag = false): void {
  reply.header('x-read-position', String(position))
  if (isReplay) reply.header('idempotent-replayed', 'true')
  if (etag) reply.header('etag', etagOfRevision(stateRevision))
}

// The headers that make a retry safe, of routes that name them in their config.

/**
 * What the request is recognised by when it comes again.
 * @throws Rejection `invalid` when its Idempotency-Key is given twice, or is not 1 to 255 printable ASCII characters
 */
export function claimOf (request: FastifyRequest): Claim {
  const { method, routeOptions, url, body, user, raw } = request
  const [key, ...more] = takes(request, 'Idempotency-Key') ? raw.headersDistinct['idempotency-key'] ?? [] : []
  if (more.length > 0 || (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key))) {
    throw invalid({ 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters, once'] })
  }
  return { userId: user.id, method, route: routeOptions.url ?? url, key, body, path: url }
}

/** @throws Rejection where If-Match names other tags than the present one */
function refuseUnlessMatching (request: FastifyRequest, present: () => string): void {
  const given = takes(request, 'If-Match') ? request.headers['if-match'] : undefined
  if (given === undefined || isMatch(given, present)) return
  throw new Rejection('revision-mismatch', 'It was changed in the meantime: read it again and send its present ETag.')
}

const takes = ({ routeOptions }: FastifyRequest, header: RequestHeader) =>
  routeOptions.config.requestHeaders?.includes(header)
