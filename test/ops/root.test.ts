// What answers at the root of the service.
import t from 'tap'
import { packageVersion } from '../../src/package-root.js'
import { testService } from '../support/service.js'

const { url, start } = await testService(t, ['api'])

t.test('programs are told where everything is', async (t) => {
  const answer = await fetch(url)
  t.equal(answer.status, 200)
  t.same(await answer.json(), {
    name: 'Ringledger', version: packageVersion, docs: '/docs', ops: '/ops', health: '/health/ready'
  })
})

t.test('browsers are shown it, on a page that loads nothing from elsewhere', async (t) => {
  const answer = await fetch(url, { headers: { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' } })
  t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
  t.match(answer.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self';/)
  const page = await answer.text()
  for (const path of ['/docs', '/ops', '/health/ready']) t.match(page, `href="${path}"`)
  t.notMatch(page, /(src|href)="(https?:)?\/\//)
})

t.test('with a BASE_PATH it answers there, too, and leads below it', async (t) => {
  const { url } = await start(['api'], { BASE_PATH: '/voice' })
  for (const path of ['/', '/voice', '/voice/']) {
    t.match(await (await fetch(url + path)).json(), { docs: '/voice/docs', ops: '/voice/ops' }, path)
  }
  t.equal((await fetch(`${url}/voice/ops`)).status, 401)
})

t.test('other methods are refused with those that it takes', async (t) => {
  const answer = await fetch(url, { method: 'DELETE' })
  t.equal(answer.status, 405)
  t.equal(answer.headers.get('allow'), 'GET, HEAD')
})
