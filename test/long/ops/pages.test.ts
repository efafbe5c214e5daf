// The pages for operators in a real browser: what they show, what can be done there, and that everybody can use them.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { findChromium, logIn, openBrowser } from '../../support/ops/operator.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/scenes.js'

const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the pages are not tried in a browser')
else {
  const service = await webhookService(t)
  const { url, parts: { pool } } = service
  const hostile = '<script>document.title = "taken"</script><img src=x onerror=alert(1)>'
  const gone = await receiver(t, answers(410, {}, hostile))
  const failing = await receiver(t, answers(500, {}, hostile))
  const good = await receiver(t)
  const delivered = await service.complete(await service.create(good.url), tried(1))
  await service.complete(await service.create(`${gone.url}?token=secret`), tried(1))
  const failed = await service.complete(await service.create(failing.url), tried(1))
  await pool.query(`
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
    VALUES ('read_leads_g1', 'lead-1-x', 0, 1, 'LeadCreated', $1)`, [hostile])
  const browser = await openBrowser(t, chromium)
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  const token = await service.token('operator', 'ops')

  /** What keeps somebody from using the page. */
  const barriers = async (page: Page) => {
    await page.evaluate(axe)
    const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })")
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ').slice(0, 300)}`)
  }
  const widerThanScreen = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')

  /** In pixels of the screen, as it is shown. */
  const smallestLetters = (page: Page) => page.evaluate<number>(
    'Math.min(...[...document.querySelectorAll("svg text")].map((text) => text.getBoundingClientRect().height))')

  const paths = [
    '/ops', '/ops/projections/leads', '/ops/projections/dispatcher', '/ops/deliveries', '/ops/deliveries?status=held',
    `/ops/deliveries/${delivered.id}`, `/ops/deliveries/${failed.id}`, '/ops/endpoints', '/ops/deliveries/nothing'
  ]

  for (const [name, screen] of Object.entries({
    'a desktop in the light': { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
    'a phone in the dark': { viewport: { width: 390, height: 800 }, colorScheme: 'dark' }
  } as const)) {
    t.test(`every page can be used on ${name}, by keyboard and by readers of screens`, async (t) => {
      const page = await (await browser.newContext(screen)).newPage()
      const problems: string[] = []
      page.on('console', (message) => { if (/Security Policy|Uncaught/.test(message.text())) problems.push(message.text()) })
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(`${url}/`)
      t.same(await barriers(page), [], '/')
      await page.goto(`${url}/ops`)
      t.same(await barriers(page), [], 'the form to log in')
      await logIn(page, url, token)
      t.ok(await smallestLetters(page) >= 10, `${await smallestLetters(page)} pixels: the charts can be read`)
      for (const path of paths) {
        await page.goto(url + path)
        t.same(await barriers(page), [], path)
        t.notOk(await widerThanScreen(page), `${path} is not wider than the screen`)
        t.match(await page.title(), /· Ringledger$/, 'what others have written runs nowhere')
      }
      t.same(problems, [])
      await page.context().close()
    })
  }

  t.test('an operator finds a delivery, sees what was sent, and sends it again', async (t) => {
    const page = await (await browser.newContext()).newPage()
    await logIn(page, url, token)
    await page.getByRole('link', { name: 'Deliveries' }).click()
    await page.getByLabel('Delivery or call').fill(failed.call_id)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: failed.id.slice(0, 8) }).click()
    t.match(await page.getByLabel('Request').textContent(), /^POST http.*webhook-id: .*"type":"call.completed"/s)
    await page.getByRole('button', { name: 'Redeliver' }).click()
    t.match(await page.getByRole('status').textContent(), 'It is sent again')
    await eventually(async () => failing.received.length === 2)
    await page.reload()
    t.equal(await page.getByRole('status').count(), 0, 'it is said once')
    await page.context().close()
  })

  t.test('an operator resumes an endpoint that was suspended', async (t) => {
    const page = await (await browser.newContext()).newPage()
    await logIn(page, url, token)
    await page.getByRole('link', { name: 'Endpoints' }).click()
    t.notMatch(await page.content(), 'secret', 'a query may hold one')
    await page.getByRole('button', { name: `Resume ${gone.url}` }).click()
    t.match(await page.getByRole('status').textContent(), 'It is sent to again')
    t.match(await page.getByRole('main').textContent(), 'Every endpoint is sent to.')
    await page.context().close()
  })

  t.test('a replay is begun by a button, and its page shows by itself when it is done', async (t) => {
    const page = await (await browser.newContext()).newPage()
    await logIn(page, url, token)
    await page.getByRole('link', { name: 'catalog' }).click()
    await page.getByRole('button', { name: 'replay' }).click()
    await page.waitForURL('**/ops/actions/*')
    await page.getByText('readers see generation 2 now').waitFor({ timeout: 60_000 })
    t.equal(await page.locator('main[data-live]').count(), 0, 'then it no longer loads itself anew')
    await page.context().close()
  })

  t.test('a parked event is told with its error, and given up for a reason', async (t) => {
    const page = await (await browser.newContext()).newPage()
    await logIn(page, url, token)
    await page.goto(`${url}/ops/projections/leads`)
    await page.getByText('lead-1-x@0').click()
    t.match(await page.getByRole('main').textContent(), hostile)
    await page.getByLabel('Why this event is given up').fill('it was made by a test')
    await page.getByRole('button', { name: 'Skip this event for good' }).click()
    t.match(await page.getByRole('alert').textContent(), 'the log has no event lead-1-x@0')
    await page.context().close()
  })
}
