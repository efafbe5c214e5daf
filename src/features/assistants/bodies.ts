// What a caller sends to create or update an assistant: the table of its fields, held to more than events are.
import Type, { type Static } from 'typebox'
import { AnyObject, notBlank, variableLimits } from '../../domain/json.js'
import { zoneNamed } from '../../domain/time/time-zone.js'
import { AssistantStatus } from './events.js'
import { AssistantSettings, PostCallField, optional, required, type EndCallTool } from './settings.js'

/** Folding, comparing and sending a schema costs by its fields: these are more than anybody fills in by hand. */
const mostSchemaFields = 200

/** Some readers of JSON refuse this name wherever it stands, and with it the webhook that carries the value. */
const unreadable = '__proto__'

const PostCallFieldInput = Type.Object({
  ...PostCallField.properties,
  name: Type.String({ ...PostCallField.properties.name, maxLength: 255, not: { const: unreadable } })
}, { title: 'PostCallFieldInput' })

/** The table of fields as bodies are held to it: events keep what an earlier release has taken. */
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

/** A body of either route, as far as it is there. */
export type AssistantBody = Partial<CreateAssistantBody>

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

/** As WHATWG URL writes it, without a fragment, which no request has. What cannot be parsed is refused later. */
function asCalled (url: string): string {
  if (/[\s\p{Cc}\\]|^https?:\/\/(\/|$)/iu.test(url) || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return url
  const called = new URL(url)
  called.hash = ''
  return called.href === `${url}/` ? url : called.href // an empty path is the same
}

const knownOf = ({ description }: Static<typeof EndCallTool>) => description === undefined ? {} : { description }
