// The TypeScript client against a running service: types, retries, lists, reads of what was written.
import { connect, items, orThrow, Refused } from '@ringledger/client'
import t from 'tap'
import { testService } from '../support/service.js'
import { customerNumber, frontDesk } from '../../src/domain/examples.js'

const { url, token } = await testService(t)
const as = (user: string) => ({ url, token: () => token(user) })

t.test('what was written is read at once, and a refusal names its fields', async (t) => {
  const client = connect(as('1'))
  const created = orThrow(await client.POST('/user/assistant', { body: frontDesk }))
  const path = { id: created.data.id }
  const { data } = orThrow(await client.GET('/user/assistant/{id}', { params: { path } }))
  t.equal(data.settings.assistant_name, frontDesk.assistant_name)
  const changed = await client.PUT('/user/assistant/{id}', { params: { path }, body: { speech_speed: 9 } })
  t.throws(() => orThrow(changed), { name: 'Refused', status: 422, fields: { speech_speed: [/between/] } })
  t.throws(() => orThrow(changed), Refused)
})

t.test('a request whose answer is lost is sent again, and happens once', async (t) => {
  let lost = 0
  const client = connect({
    ...as('2'),
    waitMs: 1,
    async fetch (request) {
      const answer = await fetch(request)
      if (request.method === 'POST' && ++lost < 3) throw new TypeError('the connection was lost')
      return answer
    }
  })
  const created = await client.POST('/user/assistant', { body: frontDesk })
  t.equal(created.response.headers.get('idempotent-replayed'), 'true')
  t.equal(orThrow(await client.GET('/user/assistants')).meta.total, 1)
  t.equal(lost, 3)
})

t.test('what is away or too busy is asked again, as often as it was told, and what is wrong is not', async (t) => {
  const answers = (...statuses: number[]) => {
    let asked = 0
    const client = connect({
      ...as('1'),
      attempts: 3,
      waitMs: 1,
      async fetch () {
        const status = statuses[asked++] ?? 200
        return Response.json({ message: 'no' }, { status, headers: { 'retry-after': status === 429 ? '3600' : '0' } })
      }
    })
    return async () => ({ status: (await client.GET('/user/me')).response.status, asked })
  }
  t.same(await answers(503, 409, 200)(), { status: 200, asked: 3 })
  t.same(await answers(503, 503, 503, 503)(), { status: 503, asked: 3 })
  t.same(await answers(429)(), { status: 429, asked: 1 }, 'an hour is not waited for')
  t.same(await answers(422)(), { status: 422, asked: 1 })
})

t.test('a list is walked to its end', async (t) => {
  const client = connect(as('1'))
  for (const last of ['0', '1', '2']) {
    const phone_number = `${customerNumber.slice(0, -1)}${last}`
    orThrow(await client.POST('/user/lead', { body: { phone_number, campaign_id: 1 } }))
  }
  const found: string[] = []
  for await (const lead of items((after) => client.GET('/user/leads', { params: { query: { after, per_page: 2 } } }))) {
    found.push(lead.phone_number.slice(-1))
  }
  t.same(found, ['2', '1', '0'])
  const stranger = connect({ url, token: 'no token' })
  await t.rejects(items((after) => stranger.GET('/user/leads', { params: { query: { after } } })).next(), { name: 'Refused', message: 'Unauthenticated.' })
})
