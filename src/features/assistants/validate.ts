// What is wrong with the settings that were sent for an assistant, without regard to its present ones.
import { isBlank } from '../../domain/blank.js'
import { zoneNamed } from '../../domain/time/time-zone.js'
import type { FieldErrors } from '../../domain/rejection.js'
import { collect, problem, repeated, soundBody, soundFields, type Problem, type Submitted } from '../../domain/validation.js'
import {
  givenSettings, type AssistantBody, type CreateAssistantBody, type RestoreAssistantBody, type UpdateAssistantBody
} from './bodies.js'
import type { AssistantStatus } from './events.js'
import { defaultSettings, longestUrl, type AssistantSettings } from './settings.js'

/** What is true outside the stream of what the body names. An absent fact is not known, and refuses nothing. */
export interface AssistantFacts {
  voiceExists?: boolean
  languageExists?: boolean
  ownsPhoneNumber?: boolean
  /** Why the webhook URL may not be used, if so. */
  webhookUrlProblem?: string | undefined
}

export interface NewAssistant { type: 'create', settings: AssistantSettings }
export interface AssistantChanges { type: 'update', given: Partial<AssistantSettings>, status?: AssistantStatus | undefined }

/** The settings of a past revision, as far as there was one, and what today's rules say against them, by field. */
export interface PastSettings { type: 'restore', past: AssistantSettings | undefined, problems: FieldErrors }

/** What is true of the settings of a past revision. An assistant that is not the user's has none. */
export interface PastFacts extends AssistantFacts {
  past?: AssistantSettings | undefined
  /** What the schema of today refuses of them. */
  refused?: FieldErrors
}

/** @throws Rejection `invalid` with every problem */
export function validateNewAssistant (submitted: Submitted<CreateAssistantBody>, facts: AssistantFacts): NewAssistant {
  const given = givenSettings(soundFields(submitted))
  const body = soundBody(submitted, [
    ...problemsOf(given, submitted, facts),
    !submitted.refused?.webhook_url && missingUrl({ ...defaultSettings(), ...given })
  ])
  return { type: 'create', settings: { ...defaultSettings(), ...givenSettings(body) } }
}

/**
 * Whether there is a webhook URL where one is needed is only known of the merged settings, unless it is taken away.
 * @throws Rejection `invalid` with every problem
 */
export function validateChanges (submitted: Submitted<UpdateAssistantBody>, facts: AssistantFacts): AssistantChanges {
  const given = givenSettings(soundFields(submitted))
  soundBody(submitted, [...problemsOf(given, submitted, facts), given.webhook_url === null && missingUrl(given)])
  const { status } = soundFields(submitted)
  return { type: 'update', given: given.webhook_url === null ? { ...given, is_webhook_active: false } : given, status }
}

/**
 * A problem counts only if its field differs from the present settings, which `decide` knows.
 * @throws Rejection `invalid` with every problem of the body
 */
export function validateRestore (
  submitted: Submitted<RestoreAssistantBody>, { past, refused = {}, ...facts }: PastFacts
): PastSettings {
  soundBody(submitted, [])
  if (!past) return { type: 'restore', past, problems: {} }
  const before = { body: past, refused }
  const problems = collect(refused, problemsOf(soundFields(before), before, facts))
  return { type: 'restore', past, problems }
}

/** What is on has a URL. */
export function missingUrl ({ is_webhook_active, webhook_url }: Partial<AssistantSettings>): Problem {
  const isMissing = is_webhook_active && webhook_url == null
  return isMissing && problem('webhook_url', 'is required when is_webhook_active is true')
}

/** Where the spelling of the field table and the nested object are both there, they say the same. */
function differing ({ end_call_tool: tool, 'end_call_tool.description': literal }: AssistantBody): Problem {
  const isDifferent = tool !== undefined && literal !== undefined && tool?.description !== literal
  return isDifferent && problem('end_call_tool.description', 'must be the same as in end_call_tool, or left out')
}

function problemsOf (
  given: Partial<AssistantSettings>, submitted: Submitted<AssistantBody>, facts: AssistantFacts
): Problem[] {
  const { voice_id, language, timezone, phone_number_id, webhook_url } = given
  const { voiceExists, languageExists, ownsPhoneNumber, webhookUrlProblem } = facts
  const isLong = (webhook_url ?? '').length > longestUrl // as it is called, and not as it was sent
  const noZone = 'must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'
  return [
    ...blankNames(given),
    voice_id !== undefined && voiceExists === false && problem('voice_id', 'must be an available voice'),
    language !== undefined && languageExists === false && problem('language', 'must be an available language'),
    timezone !== undefined && zoneNamed(timezone) === undefined && problem('timezone', noZone),
    phone_number_id != null && ownsPhoneNumber === false &&
      problem('phone_number_id', 'must be one of your phone numbers'),
    isLong && problem('webhook_url', `must be at most ${longestUrl} characters`),
    webhook_url != null && webhookUrlProblem !== undefined && problem('webhook_url', webhookUrlProblem),
    differing(soundFields(submitted)),
    ...repeated('post_call_schema', submitted.body.post_call_schema, 'name', 'must be unique in the schema')
  ]
}

const namesOf = ['assistant_name', 'llm_model'] as const

function blankNames (given: Partial<AssistantSettings>): Problem[] {
  return namesOf.map((name) => isBlank(given[name] ?? '') && problem(name, 'must not be blank'))
}
