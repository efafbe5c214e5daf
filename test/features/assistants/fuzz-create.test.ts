// Thousands of bodies at POST /user/assistant: each is refused with a reason, or read back as it was sent.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { CreateAssistantBody } from '../../../src/features/assistants/validate.js'
import { fuzzBodies, type FuzzBody } from '../../support/fuzz/bodies.js'
import { documentedDefaults } from '../../support/bodies/bodies.js'
import { settingsAfter, soundAssistant, summaryOf } from './expected-settings.js'
import {
  bodyCount, brokenRule, eventCounts, fuzzSeed, places, sender, sent, throwAll, type FuzzAnswer
} from '../../support/fuzz/rules.js'
import { testService } from '../../support/service.js'

const seed = fuzzSeed(t)
const bodies = fuzzBodies({ seed, count: bodyCount, schema: CreateAssistantBody, sound: soundAssistant })
const service = await testService(t)
const send = await sender(t, service)

t.test('every body is refused with a reason, or creates exactly the assistant that it describes', async (t) => {
  let created = 0
  await throwAll(t, bodies, Array.from({ length: places }), async (body) => {
    const answer = await send('POST', '/user/assistant', body.bytes)
    const { status } = answer
    if (status === 201) created += 1
    return {
      status,
      wrong: brokenRule(body, answer, [201, 400, 413, 422]) ??
      (status === 201 ? await difference(body, answer) : undefined)
    }
  })
  t.ok(created > bodies.length / 12, 'enough of them were accepted to mean something')
  t.equal((await eventCounts(service)).get('AssistantCreated'), created, 'what was refused wrote nothing')
  t.equal((await send('GET', '/user/assistants')).body.meta.total, created, 'and the list knows all of them')
})

async function difference (body: FuzzBody, { headers, body: { data } }: FuzzAnswer): Promise<string | undefined> {
  const expected = settingsAfter(documentedDefaults, sent(body))
  if (!isDeepStrictEqual(data, summaryOf(data.id, expected))) return `answered ${JSON.stringify(data)}`
  const { status, body: found } = await send('GET', `/user/assistant/${data.id}`, undefined, {
    'x-read-position': String(headers['x-read-position'])
  })
  return status === 200 && isDeepStrictEqual(found.data.settings, expected)
    ? undefined
    : `read back ${status} ${JSON.stringify(found)}, and not ${JSON.stringify(expected)}`
}
