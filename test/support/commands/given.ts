// Scenarios for deciders: given these events, when this command comes, then these events or a refusal follow.
import type { Test } from 'tap'
import { fold, type Decider } from '../../../src/domain/events.js'
import type { TSchema } from 'typebox'
import {
  Rejection, soundFields, type Submitted, unstorable, type FieldErrors, type RejectionCode
} from '../../../src/domain/rejection.js'
import { refusedBy } from '../../../src/http/bodies.js'

/** What a command was refused with; `errors` must match exactly when given. */
export interface Refusal { code: RejectionCode, errors?: FieldErrors | undefined }

export function scenarios<State, Event extends { type: string }, Command extends object> (
  decider: Decider<State, Event, Command>
) {
  return (events: Event[]) => ({
    state: () => fold(decider, events),
    /** The command, or a function that validates a body into one and may refuse it. */
    when: (command: Command | (() => Command)) => ({
      then (t: Test, expected: Event[] | Refusal): void {
        const given = () => typeof command === 'function' ? command() : command
        const outcome = attempt(() => decider.decide(given(), fold(decider, events)))
        if (Array.isArray(expected)) t.strictSame(outcome, expected)
        else t.strictSame(outcome, { errors: undefined, ...expected })
      }
    })
  })
}

export const invalid = (errors: FieldErrors): Refusal => ({ code: 'invalid', errors })

function attempt<Event> (decide: () => Event[]): Event[] | Refusal {
  try {
    return decide()
  } catch (error) {
    if (error instanceof Rejection) return { code: error.code, errors: error.errors }
    throw error
  }
}

/** Validates a body as a route does: by its schema, facts about the fields that the schema accepts, and rules. */
export function submitting<Body extends object, Facts, Made> (
  schema: TSchema, factsOf: (fields: Partial<Body>) => Facts,
  validate: (submitted: Submitted<Body>, facts: Facts) => Made
) {
  const refusedOf = refusedBy(schema)
  return (given: object): { made: Made } | { errors: FieldErrors | undefined } => {
    const refused = { ...unstorable(given), ...refusedOf(given) }
    const body = given as Body // as far as nothing is refused
    const submitted = Object.keys(refused).length === 0 ? { body } : { body, refused }
    try {
      return { made: validate(submitted, factsOf(soundFields<Body>(submitted))) }
    } catch (error) {
      if (error instanceof Rejection) return { errors: error.errors }
      throw error
    }
  }
}
