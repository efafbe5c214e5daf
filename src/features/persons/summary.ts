// A request for a person's data as its user sends and sees it.
import Type, { type Static } from 'typebox'
import { Nullable, PhoneNumber } from '../../domain/json.js'
import type { PersonRequest } from './decide.js'
import { RequestType } from './events.js'

export const PersonBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number of the person, in E.164 format.' })
}, { title: 'Person' })

export const ownNumber = 'is one of your own phone numbers, and no person'

const At = (description: string) =>
  Type.String({ description: `ISO 8601, UTC. ${description}`.trim(), examples: ['2026-01-31T12:00:00.000Z'] })

const begun = {
  id: Type.String({ description: 'Of the request.' }),
  type: RequestType,
  status: Type.Enum(['processing', 'completed', 'failed'], {
    title: 'PersonRequestStatus', description: 'Failed: it is not tried again.'
  })
}

export const BegunPersonRequest = Type.Object(begun, { title: 'BegunPersonRequest' })
export type BegunPersonRequest = Static<typeof BegunPersonRequest>

export const PersonRequestAnswer = Type.Object({
  ...begun,
  created_at: At(''),
  finished_at: Nullable(At('Null until it has ended.')),
  waits_for: Type.Optional(Type.String({
    description: 'Only of an erasure that cannot go on: what it waits for. Where that is parked events, your operator has to act.'
  }))
}, { title: 'PersonRequest' })
export type PersonRequestAnswer = Static<typeof PersonRequestAnswer>

export const describeBegun = ({ person_request_id: id, type, status }: PersonRequest): BegunPersonRequest =>
  ({ id, type, status })

export const describePersonRequest = (request: PersonRequest): PersonRequestAnswer =>
  ({
    ...describeBegun(request),
    created_at: request.requested_at,
    finished_at: request.finished_at,
    ...request.waits_for !== undefined && { waits_for: request.waits_for }
  })

/** How long an export can be downloaded after its end, in milliseconds. */
const keptForMs = 24 * 3_600_000

/** Whether the export is still to be had. */
export function isKept ({ finished_at: at }: Pick<PersonRequest, 'finished_at'>, now: number): boolean {
  return at !== null && now < Date.parse(at) + keptForMs
}
