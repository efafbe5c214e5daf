// The rules for creating and updating an assistant.
import Value from 'typebox/value'
import type { Decider } from '../decider.js'
import { Rejection, collect, refuseInvalid, type FieldErrors, type Problem } from '../rejection.js'
import type { NewEvent } from '../stored-event.js'
import { isAreaCity } from '../time-zone.js'
import type { AssistantEvent } from './events.js'
import { evolve, type AssistantState } from './evolve.js'
import { defaultSettings, givenSettings, type AssistantBody, type AssistantSettings, type PostCallField } from './settings.js'

/** What is true outside the stream, looked up for the values that the body gives. */
export interface AssistantFacts {
  voiceExists: boolean
  languageExists: boolean
  ownsPhoneNumber: boolean
  /** Why the webhook URL may not be used, if so. */
  webhookUrlProblem?: string | undefined
}

export interface AssistantCommand {
  type: 'create' | 'update'
  assistantId: number
  userId: string
  body: AssistantBody
  /** What the schema refused already; rules skip these fields, and both are told together. */
  refused: FieldErrors
  facts: AssistantFacts
  /** ISO 8601. */
  now: string
}

export const assistantDecider: Decider<AssistantState, AssistantEvent, AssistantCommand> = {
  initialState: undefined,
  evolve,
  decide: (command, state) => command.type === 'create' ? create(command, state) : update(command, state)
}

function create (command: AssistantCommand, state: AssistantState): NewEvent[] {
  const { assistantId, userId, now } = command
  if (state) throw new Rejection('id-taken', 'The id was given out before: try again')
  const given = soundSettings(command)
  refuseInvalid(collect(command.refused, rules(given, { ...defaultSettings(), ...given }, command)))
  const settings = { ...defaultSettings(), ...given }
  return [{ type: 'AssistantCreated', data: { assistant_id: assistantId, user_id: userId, settings, created_at: now, status: 'active' } }]
}

function update (command: AssistantCommand, state: AssistantState): NewEvent[] {
  const { assistantId, userId, now } = command
  if (state?.user_id !== userId) throw assistantNotFound()
  const given = soundSettings(command)
  if (given.webhook_url === null) given.is_webhook_active ??= false
  refuseInvalid(collect(command.refused, rules(given, { ...state.settings, ...given }, command)))
  const changes = changedFields(state.settings, given)
  if (Object.keys(changes).length === 0) return []
  return [{ type: 'AssistantUpdated', data: { assistant_id: assistantId, user_id: userId, changes, updated_at: now } }]
}

/** Also the answer to somebody else's assistant, so that nobody learns which ids exist. */
export function assistantNotFound (): Rejection {
  return new Rejection('assistant-not-found', 'Assistant not found or does not belong to the authenticated user')
}

function rules (given: Partial<AssistantSettings>, merged: Partial<AssistantSettings>, { body, facts, refused }: AssistantCommand): Problem[] {
  return [
    given.voice_id !== undefined && !facts.voiceExists && problem('voice_id', 'must be an available voice'),
    given.language !== undefined && !facts.languageExists && problem('language', 'must be an available language'),
    given.timezone !== undefined && !isAreaCity(given.timezone) && problem('timezone', 'must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'),
    given.phone_number_id != null && !facts.ownsPhoneNumber && problem('phone_number_id', 'must be one of your phone numbers'),
    given.webhook_url != null && facts.webhookUrlProblem && problem('webhook_url', facts.webhookUrlProblem),
    merged.is_webhook_active && merged.webhook_url == null && !refused.webhook_url && problem('webhook_url', 'is required when is_webhook_active is true'),
    ...repeatedNames(body.post_call_schema)
  ].map((found) => found || undefined)
}

const problem = (field: string, message: string) => ({ field, message })

/** Of the names that there are: others may be missing or wrong. */
function repeatedNames (schema: unknown): Problem[] {
  if (!Array.isArray(schema)) return []
  const seen = new Set<unknown>()
  return schema.map((item: Partial<PostCallField> | null, index) => typeof item?.name === 'string' && seen.size === seen.add(item.name).size
    ? problem(`post_call_schema.${index}.name`, 'must be unique in the schema')
    : undefined)
}

/** The given settings without those that the schema refused: rules may rely on their types. */
function soundSettings ({ body, refused }: AssistantCommand): Partial<AssistantSettings> {
  const wrong = new Set(Object.keys(refused).map((path) => path.split('.')[0]))
  return givenSettings(Object.fromEntries(Object.entries(body).filter(([name]) => !wrong.has(name.split('.')[0]))))
}

function changedFields (current: AssistantSettings, given: Partial<AssistantSettings>): Partial<AssistantSettings> {
  const changed = Object.entries(given).filter(([name, value]) => !Value.Equal(Reflect.get(current, name), value))
  return Object.fromEntries(changed)
}
