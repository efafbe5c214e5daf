// What a caller sends for an assistant, and the checks of it that do not depend on the present settings.
import Type, { type Static } from 'typebox'
import {
  isBlank, collect, problem, repeated, soundBody, soundFields, type Problem, type Submitted, type FieldErrors
} from '../../domain/rejection.js'
import { AnyObject, notBlank, variableLimits } from '../../domain/json.js'
import {
  AssistantSettings, AssistantStatus, PostCallField, defaultSettings, longestUrl, optional, required, type EndCallTool
} from './events.js'

/** What a schema costs grows with its fields. Nobody fills in this many by hand. */
const mostSchemaFields = 200

/** Some readers of JSON refuse this name anywhere, and with it the whole webhook. */
const unreadable = '__proto__'

const PostCallFieldInput = Type.Object({
  ...PostCallField.properties,
  name: Type.String({ ...PostCallField.properties.name, maxLength: 255, not: { const: unreadable } })
}, { title: 'PostCallFieldInput' })

/** The table of fields with the limits of bodies. Events may hold what an earlier release has accepted. */
const inBodies = {
  required: {
    ...required,
    assistant_name: Type.String({ ...required.assistant_name, ...notBlank }),
    llm_model: Type.String({ ...required.llm_model, ...notBlank })
  },
  optional: {
    ...optional,
    variables: AnyObject({ ...optional.variables, ...variableLimits }),
    post_call_schema: Type.Array(PostCallFieldInput, {
      ...optional.post_call_schema, items: PostCallFieldInput, maxItems: mostSchemaFields
    })
  }
}

/** The spelling of the interface's field table, next to the nested object. */
const literalSpelling = {
  'end_call_tool.description': Type.Optional(Type.String({
    maxLength: 500, description: 'Another spelling of end_call_tool: {description}. Where both are sent they must be the same.'
  }))
}

const optionals = Type.Partial(Type.Object(inBodies.optional)).properties
export const CreateAssistantBody =
  Type.Object({ ...inBodies.required, ...optionals, ...literalSpelling }, { title: 'AssistantInput' })
export type CreateAssistantBody = Static<typeof CreateAssistantBody>

const changes = Type.Partial(Type.Object(withoutDefaults({ ...inBodies.required, ...inBodies.optional }))).properties
const status = Type.Optional(AssistantStatus({
  description: 'Switches the assistant on or off. Its webhooks go on either way.'
}))
/** Nothing has a default here: what is left out stays as it is. */
export const UpdateAssistantBody = Type.Object({ ...changes, ...literalSpelling, status }, { title: 'AssistantChanges' })
export type UpdateAssistantBody = Static<typeof UpdateAssistantBody>

export const RestoreAssistantBody = Type.Object({
  revision: Type.Integer({
    minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'The revision whose settings come back, as the history tells it.'
  }),
  without_phone_number: Type.Optional(Type.Boolean({
    description: 'They come back with phone_number_id null. Without it, one that is no longer yours is refused.'
  }))
}, { title: 'AssistantRestore' })
export type RestoreAssistantBody = Static<typeof RestoreAssistantBody>

/** A body of either route, perhaps with fields missing. */
export type AssistantBody = Partial<CreateAssistantBody>

/** Facts from outside the stream about what the body names. An absent fact is unknown, and refuses nothing. */
export interface AssistantFacts {
  voiceExists?: boolean
  languageExists?: boolean
  ownsPhoneNumber?: boolean
  /** Why the webhook URL may not be used, if so. */
  webhookUrlProblem?: string | undefined
}

export interface NewAssistant { type: 'create', settings: AssistantSettings }
export interface AssistantChanges { type: 'update', given: Partial<AssistantSettings>, status?: AssistantStatus | undefined }

/** The settings of a past revision, if there was one, and what today's rules refuse of them, by field. */
export interface PastSettings { type: 'restore', past: AssistantSettings | undefined, problems: FieldErrors }

/** Facts about the settings of a past revision. Another user's assistant has none. */
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
 * Only `decide` knows the merged settings, and whether they lack a webhook URL. A body that removes it is checked here.
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

/** An active webhook must have a URL. */
export function missingUrl ({ is_webhook_active, webhook_url }: Partial<AssistantSettings>): Problem {
  const isMissing = is_webhook_active && webhook_url == null
  return isMissing && problem('webhook_url', 'is required when is_webhook_active is true')
}

/** A body that has both spellings must say the same in both. */
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
    ...(['assistant_name', 'llm_model'] as const).map((name) =>
      isBlank(given[name] ?? '') && problem(name, 'must not be blank')),
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

type Optional = keyof typeof optional
type NewSettings = Omit<AssistantSettings, Optional> & Partial<Pick<AssistantSettings, Optional>>

function withoutDefaults<Properties extends Record<string, object>> (properties: Properties): Properties {
  const bare: object = Object.fromEntries(Object.entries(properties).map(([name, schema]) =>
    [name, Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'default'))]))
  return bare as Properties // the same names; no type says whether a default is there
}

/** The settings that a body gives: known fields only, end_call_tool nested, the time zone as IANA writes it. */
export function givenSettings (body: CreateAssistantBody): NewSettings
export function givenSettings (body: AssistantBody): Partial<AssistantSettings>
export function givenSettings (
  { 'end_call_tool.description': literal, ...fields }: AssistantBody
): Partial<AssistantSettings> {
  const known = Object.entries(fields)
    .filter(([name, value]) => Object.hasOwn(AssistantSettings.properties, name) && value !== undefined)
  const given: Partial<AssistantSettings> = Object.fromEntries(known)
  if (literal !== undefined && given.end_call_tool === undefined) given.end_call_tool = { description: literal }
  if (given.timezone !== undefined) given.timezone = zoneNamed(given.timezone) ?? given.timezone
  if (given.webhook_url) given.webhook_url = asCalled(given.webhook_url)
  if (given.end_call_tool) given.end_call_tool = knownOf(given.end_call_tool)
  given.post_call_schema &&= given.post_call_schema.map(({ name, type, description }) => ({ name, type, description }))
  return given
}

/** Writes a URL as WHATWG does, without a fragment, which no request has. What cannot be parsed is refused later. */
function asCalled (url: string): string {
  if (/[\s\p{Cc}\\]|^https?:\/\/(\/|$)/iu.test(url) || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return url
  const called = new URL(url)
  called.hash = ''
  return called.href === `${url}/` ? url : called.href // an empty path is the same
}

const knownOf = ({ description }: Static<typeof EndCallTool>) => description === undefined ? {} : { description }

/**
 * What Intl leaves out: it lists one name of those that are aliases of each other, and not the same one in every Node
 * (Europe/Kiev or Europe/Kyiv). America/Coyhaique is new.
 */
const zonesByArea = {
  Africa: `
    Asmara Asmera Bamako Timbuktu`,
  America: `
    Adak Anchorage Argentina/Buenos_Aires Argentina/Catamarca Argentina/ComodRivadavia Argentina/Cordoba
    Argentina/Jujuy Argentina/Mendoza Atikokan Atka Buenos_Aires Catamarca Chicago Coral_Harbour Cordoba Coyhaique
    Denver Detroit Edmonton Ensenada Fort_Wayne Godthab Halifax Indiana/Indianapolis Indiana/Knox Indianapolis Iqaluit Jujuy
    Kentucky/Louisville Knox_IN Los_Angeles Louisville Manaus Mazatlan Mendoza Mexico_City Montreal New_York Nipigon
    Noronha Nuuk Pangnirtung Phoenix Porto_Acre Rainy_River Regina Rio_Branco Rosario Santa_Isabel Santiago Sao_Paulo
    Shiprock St_Johns St_Thomas Thunder_Bay Tijuana Toronto Vancouver Virgin Whitehorse Winnipeg Yellowknife`,
  Antarctica: `
    McMurdo South_Pole`,
  Arctic: `
    Longyearbyen`,
  Asia: `
    Ashgabat Ashkhabad Calcutta Choibalsan Chongqing Chungking Dacca Dhaka Harbin Ho_Chi_Minh Istanbul Jerusalem
    Kashgar Kathmandu Katmandu Kolkata Macao Macau Makassar Nicosia Rangoon Saigon Shanghai Tel_Aviv Thimbu Thimphu
    Ujung_Pandang Ulaanbaatar Ulan_Bator Urumqi Yangon`,
  Atlantic: `
    Faeroe Faroe Jan_Mayen`,
  Australia: `
    ACT Adelaide Brisbane Broken_Hill Canberra Currie Darwin Hobart LHI Lord_Howe Melbourne NSW North Perth Queensland
    South Sydney Tasmania Victoria West Yancowinna`,
  Brazil: `
    Acre DeNoronha East West`,
  Canada: `
    Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon`,
  Chile: `
    Continental EasterIsland`,
  Etc: `
    GMT GMT+0 GMT+1 GMT+10 GMT+11 GMT+12 GMT+2 GMT+3 GMT+4 GMT+5 GMT+6 GMT+7 GMT+8 GMT+9 GMT-0 GMT-1 GMT-10 GMT-11
    GMT-12 GMT-13 GMT-14 GMT-2 GMT-3 GMT-4 GMT-5 GMT-6 GMT-7 GMT-8 GMT-9 GMT0 Greenwich UCT UTC Universal Zulu`,
  Europe: `
    Belfast Chisinau Istanbul Kiev Kyiv London Nicosia Tiraspol Uzhgorod Zaporozhye`,
  Mexico: `
    BajaNorte BajaSur General`,
  Pacific: `
    Chuuk Easter Enderbury Honolulu Johnston Kanton Pago_Pago Pohnpei Ponape Samoa Truk Yap`,
  US: `
    Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa`
}

const aliases = Object.entries(zonesByArea).flatMap(([area, cities]) =>
  cities.trim().split(/\s+/).map((city) => `${area}/${city}`))

const listed = Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/'))

const names = new Map([...listed, ...aliases].map((name) => [name.toLowerCase(), name]))

/**
 * The zone as the IANA database writes it, whatever the case of `name`; undefined when no zone with an area has that
 * name: `Europe/Kyiv`, not `UTC`. An alias stays what it is.
 */
export function zoneNamed (name: string): string | undefined {
  const isAscii = /^[\x21-\x7e]{1,100}$/.test(name) // there are other letters whose lower case is an ASCII letter
  return isAscii ? names.get(name.toLowerCase()) : undefined
}
