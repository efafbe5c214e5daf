// Refusals by what is stored: ids, owners, revisions, keys and counts of requests.
import t from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { told } from '../../support/scenes/scenes.js'
import { isRefusal, type Answer } from '../../support/running-service.js'
import { refusalScene } from './refusal-scene.js'

const { service, call, engine, other, id, delivery } = await refusalScene(t)
const lead = (await call('POST', '/user/lead', newLead())).body.data

t.test('an impossible, an unknown and another user\'s id are a 404 with the same message', async (t) => {
  const odd = [
    'abc', '1.5', '-1', '0', '%201', '1%20', '1e3', '0x1', '01', '+1', '%00', '%E2%82%AC', '%2F', '1;x', 'null',
    '9007199254740991', '9007199254740992', '9007199254740993', '9'.repeat(400), 'x'.repeat(8_000), ''
  ]
  const things = [
    ['PUT', '/user/assistant/', 'Assistant', '', 200], ['GET', '/user/assistant/', 'Assistant', '', 200],
    ['GET', '/user/assistant/', 'Assistant', '/history', 200], ['GET', '/user/lead/', 'Lead', '', 200],
    ['GET', '/user/campaign/', 'Campaign', '', 200], ['GET', '/user/call/', 'Call', '', 200], ['GET', '/user/webhook-deliveries/', 'Delivery', '', 200],
    ['POST', '/user/webhook-deliveries/', 'Delivery', '/redeliver', 409],
    ['POST', '/user/assistant/', 'Assistant', '/webhook-test', 409],
    ['POST', '/user/assistant/', 'Assistant', '/webhook-resume', 409]
  ] as const
  const owned = { Assistant: id, Lead: lead.id, Campaign: lead.campaign_id, Call: 'c-1', Delivery: delivery }
  for (const [method, path, what, rest, status] of things) {
    const own = owned[what]
    const ask = async (it: string, headers = {}) =>
      await call(method, `${path}${it}${rest}`, method === 'PUT' ? {} : undefined, { headers })
    for (const it of odd) {
      const answer = await ask(it)
      isRefusal(t, answer, 404, `${method} ${path}${it.slice(0, 30)}${rest}`)
      t.equal(answer.body.message, `${what} not found or does not belong to the authenticated user`)
    }
    const headersOf = ({ headers }: Answer) => [...headers.keys()].sort()
    const [nobodys, another] = [await ask('999999'), await ask(String(own), other)]
    t.strictSame(
      [told(another), headersOf(another)], [told(nobodys), headersOf(nobodys)], 'the answer does not tell which ids there are'
    )
    t.equal((await ask(String(own))).status, status)
  }
  t.equal(
    (await call('PUT', `/user/assistant/%3${String(id).slice(0, 1)}${String(id).slice(1)}`, {})).status,
    200,
    'an id may be percent-encoded'
  )
})

t.test('a false If-Match is a 412; another report and a key in flight are a 409', async (t) => {
  for (const etag of ['"9"', 'W/"9"', '0', '"x"', '"9", "8"', '']) {
    isRefusal(
      t,
      await call('PUT', `/user/assistant/${id}`, { assistant_name: 'x' }, { headers: { 'if-match': etag } }),
      412,
    `If-Match: ${etag}`
    )
  }
  isRefusal(
    t,
    await call('POST', '/engine/calls/c-1/completed', callReport(id, { duration: 1 }), { headers: engine }),
    409,
    'another report'
  )
  const retry = async () =>
    await call('POST', '/user/assistant', newAssistant(), { headers: { 'idempotency-key': 'in flight' } })
  t.equal((await retry()).status, 201)
  await service.parts.pool.query(`
    UPDATE ledger.idempotency_keys SET committed_at = NULL, leased_until = now() + interval '1 hour'
    WHERE key = 'in flight'`)
  const answer = await retry()
  isRefusal(t, answer, 409, 'key in flight')
  t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/)
})
