// Thousands of bodies at PUT /user/assistant/{id}: each is refused with a reason, or merged over the settings before.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { UpdateAssistantBody } from '../../../src/features/assistants/validate.js'
import { newAssistant, documentedDefaults } from '../../support/bodies/bodies.js'
import { fuzzBodies, type FuzzBody, type JsonObject } from '../../support/fuzz/bodies.js'
import { settingsAfter, soundAssistant, summaryOf } from './expected-settings.js'
import {
  bodyCount, brokenRule, eventCounts, fuzzSeed, places, sender, sent, throwAll, type FuzzAnswer
} from '../../support/fuzz/rules.js'
import { testService } from '../../support/service.js'

/** An assistant as it must be by now; nobody else updates it. */
interface Known { id: number, settings: JsonObject, status: string, revision: number }

const seed = fuzzSeed(t)
const bodies = fuzzBodies({ seed, count: bodyCount, schema: UpdateAssistantBody, sound: soundAssistant })
const service = await testService(t)
const send = await sender(t, service)
const assistants = await Promise.all(Array.from({ length: places }, async (): Promise<Known> => {
  const { body: { data } } = await send('POST', '/user/assistant', Buffer.from(JSON.stringify(newAssistant())))
  return { id: data.id, settings: { ...documentedDefaults, ...newAssistant() }, status: 'active', revision: 0 }
}))

t.test('every body is refused with a reason, or changes exactly what it names', async (t) => {
  let accepted = 0
  await throwAll(t, bodies, assistants, async (body, known) => {
    const answer = await send('PUT', `/user/assistant/${known.id}`, body.bytes)
    const { status } = answer
    if (status === 200) accepted += 1
    return {
      status,
      wrong: brokenRule(body, answer, [200, 400, 413, 422]) ??
      (status === 200 ? await difference(body, known, answer) : undefined)
    }
  })
  t.ok(accepted > bodies.length / 12, 'enough of them were accepted to mean something')
  const changes = assistants.reduce((sum, { revision }) => sum + revision, 0)
  const counts = await eventCounts(service)
  const written = ['AssistantUpdated', 'AssistantActivated', 'AssistantDeactivated']
    .reduce((sum, type) => sum + (counts.get(type) ?? 0), 0)
  t.equal(written, changes, 'what was refused, or changed nothing, wrote nothing')
})

t.test('nobody learns from any body whether an assistant is there', async (t) => {
  const theirs = (await service.call('POST', '/user/assistant', newAssistant(), { user: '2' })).body.data.id
  await throwAll(t, bodies.slice(0, 500).filter(({ kind }) =>
    kind !== 'valid'), Array.from({ length: places }), async (body) => {
    const answer = await send('PUT', '/user/assistant/999999', body.bytes)
    const another = await send('PUT', `/user/assistant/${theirs}`, body.bytes)
    const differs = isDeepStrictEqual([answer.status, answer.body], [another.status, another.body])
      ? undefined
      : 'an answer that tells them apart'
    return { status: answer.status, wrong: brokenRule(body, answer, [400, 404, 413, 422]) ?? differs }
  })
})

async function difference (
  body: FuzzBody, known: Known, { headers, body: { data } }: FuzzAnswer
): Promise<string | undefined> {
  const settings = settingsAfter(known.settings, sent(body))
  if (!isDeepStrictEqual(settings, known.settings)) known.revision += 1
  known.settings = settings
  const status = String(sent(body).status ?? known.status)
  if (status !== known.status) known.revision += 1
  known.status = status
  if (!isDeepStrictEqual(data, summaryOf(known.id, settings, status))) return `answered ${JSON.stringify(data)}`
  if (headers.etag !== `"${known.revision}"`) {
    return `is at revision ${String(headers.etag)}, and not at ${known.revision}`
  }
  const { status: code, body: found } = await send('GET', `/user/assistant/${known.id}`, undefined, {
    'x-read-position': String(headers['x-read-position'])
  })
  return code === 200 && isDeepStrictEqual(found.data.settings, settings)
    ? undefined
    : `read back ${code} ${JSON.stringify(found)}, and not ${JSON.stringify(settings)}`
}
