// The fields of an assistant that are objects, on create and on update: what is taken is read back, as it is stored.
import t from 'tap'
import {
  contradictoryTools, literal, refusedDescriptions, refusedSchemas, takenSchemas, takenTools
} from './field-cases.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { assistantCaller, brief, refusal, told } from '../../support/http/http-assistant.js'
import { testService } from '../../support/service.js'

const { create, update, seen } = assistantCaller(await testService(t, undefined, { READ_MODEL_WAIT_MS: '20000' }))

t.test('an end_call_tool is null or has a description of at most 500 characters, in either spelling', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const [body, stored] of takenTools) {
    t.strictSame((await seen(await create(newAssistant(body)))).settings.end_call_tool, stored, `create ${brief(body)}`)
    t.strictSame((await seen(await update(id, body))).settings.end_call_tool, stored, `update ${brief(body)}`)
  }
  for (const [value, message] of refusedDescriptions) {
    for (const body of [{ end_call_tool: { description: value } }, { [literal]: value }]) {
      t.strictSame(told(await create(newAssistant(body))), refusal({ [literal]: [message] }), `create ${brief(body)}`)
      t.strictSame(told(await update(id, body)), refusal({ [literal]: [message] }), `update ${brief(body)}`)
    }
  }
  for (const body of contradictoryTools) {
    const contradicts = refusal({ [literal]: ['must be the same as in end_call_tool, or left out'] })
    t.strictSame(told(await create(newAssistant(body))), contradicts, `create ${brief(body)}`)
    t.strictSame(told(await update(id, body)), contradicts, `update ${brief(body)}`)
  }
  for (const end_call_tool of ['x', 5, true, []]) {
    t.strictSame(told(await update(id, { end_call_tool })), refusal({ end_call_tool: ['must be an object or null'] }))
  }
})

t.test('a post_call_schema is an array of name, type and description, and replaces the present one', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const post_call_schema of takenSchemas) {
    const created = await seen(await create(newAssistant({ post_call_schema })))
    t.strictSame(created.settings.post_call_schema, post_call_schema, `create ${brief(post_call_schema)}`)
    const updated = await seen(await update(id, { post_call_schema }))
    t.strictSame(updated.settings.post_call_schema, post_call_schema, `update ${brief(post_call_schema)}`)
  }
})

t.test('a wrong post_call_schema is refused, with every problem at its place', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const [post_call_schema, errors] of refusedSchemas) {
    t.same(told(await create(newAssistant({ post_call_schema }))), refusal(errors), `create ${brief(post_call_schema)}`)
    t.same(told(await update(id, { post_call_schema })), refusal(errors), `update ${brief(post_call_schema)}`)
  }
})
