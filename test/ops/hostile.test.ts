// What somebody types into an address or a form of the pages is refused or not found, and no failure of the service.
import t from 'tap'
import { post, session } from '../support/ops/operator.js'
import { testService } from '../support/service.js'

const { url, token } = await testService(t, ['api'])
const { cookie, csrf } = await session(url, await token('operator', 'ops'))
const odd = ['%00', '%F0%9F', '..%2F..', "'%3B--", '%3Cscript%3E', '9'.repeat(30), 'x'.repeat(3_000)]

t.test('addresses', async (t) => {
  const fields = ['q', 'user', 'assistant', 'status', 'after']
  const places = ['/projections/', '/actions/', '/deliveries/', ...fields.map((field) => `/deliveries?${field}=`)]
  for (const path of places.flatMap((place) => odd.map((each) => `/ops${place}${each}`))) {
    const answer = await fetch(url + path, { headers: { cookie } })
    t.ok(answer.status < 500, `${path.slice(0, 60)}: ${answer.status}`)
    t.notMatch(await answer.text(), '<script>')
  }
})

t.test('forms', async (t) => {
  const forms: [path: string, fields: Record<string, string>][] = odd.map(decodeOrKeep).flatMap((text) => [
    ['/projections/leads/retry', { stream: text }],
    ['/projections/leads/skip', { stream: text, revision: '0', reason: text }],
    ['/projections/leads/skip', { stream: 'lead-1', revision: text, reason: 'a test' }],
    [`/endpoints/${encodeURIComponent(text)}/resume`, {}],
    [`/deliveries/${encodeURIComponent(text)}/redeliver`, {}]
  ])
  for (const [path, fields] of forms) {
    const answer = await post(`${url}/ops${path}`, { csrf, ...fields }, { cookie })
    const sent = `${path.slice(0, 60)} ${JSON.stringify(fields).slice(0, 80)}`
    t.ok(answer.status >= 400 && answer.status < 500, `${sent}: ${answer.status}`)
  }
})

function decodeOrKeep (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
