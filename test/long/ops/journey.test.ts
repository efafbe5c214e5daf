// What an operator does at the console: a replay and the way back, a parked event, a failing webhook; on a desktop and
// a phone, with what keeps people from using each page.
import t from 'tap'
import { screens, visit } from '../../support/console/visit.js'
import { proposed } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { findChromium, openBrowser } from '../../support/ops/operator.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/scenes.js'

t.setTimeout(240_000)
const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the console is not tried in a browser')
else {
  const service = await webhookService(t)
  const { parts: { pool, streams } } = service
  const browser = await openBrowser(t, chromium)
  const hostile = '<script>document.title = "taken"</script><img src=x onerror=alert(1)>'
  const gone = await receiver(t, answers(410, {}, hostile))
  const failing = await receiver(t, answers(500, {}, hostile))
  const failed = await service.complete(await service.create(`${failing.url}?token=secret`), tried(1))
  const token = await service.token('operator', 'ops')

  const others = [
    ['Rollback', /^Readers of catalog see generation 1 again/], ['Drop', /^Dropped of catalog: generation 2/],
    ['Pause', /^catalog is paused/], ['Resume', /^catalog goes on/]
  ] as const

  const isParked = async () =>
    (await pool.query("SELECT FROM ledger.parked_events WHERE consumer LIKE 'read_assistants%'")).rowCount !== 0
  const newestAction = async () =>
    (await service.call('GET', '/ops/api/actions', undefined, { headers: { authorization: `Bearer ${token}` } })).body.data[0]

  for (const [name, screen] of Object.entries(screens)) {
    t.test(`an operator replays, rolls back, gives an event up and resumes a webhook, on a ${name} screen`, async (t) => {
      const assistant = await service.create(gone.url)
      await service.complete(assistant, tried(1))
      const malformed = proposed({ type: 'AssistantUpdated', data: { nonsense: hostile } })
      await streams.append(`assistant-${assistant}`, [malformed], 0n)
      await eventually(isParked)
      const { page, enter, open, barriers, shift, problems, close } = await visit(browser, service.url, screen)
      const press = (label: string) => page.getByRole('button', { name: label, exact: true }).click()
      const confirm = (label: string) => page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click()

      /** The newest action of all; and the page says so. */
      const ended = async (action: string, message: RegExp) => {
        const newest = await eventually(async () => {
          const found = await newestAction()
          return found?.action === action && found.state !== 'running' && found
        })
        t.match(newest, { state: 'done', message })
        await page.getByText(message).first().waitFor()
      }
      await enter(token)
      for (const path of ['', 'projections', 'projections/catalog', 'projections/dispatcher', 'parked', 'deliveries', `deliveries/${failed.id}`, 'webhooks', 'work', 'doctor']) {
        await open(path)
        t.ok(await shift() < 0.1, `nothing moves in ${path}`)
        t.same(await barriers(), [], path)
        t.match(await page.title(), /· Ringledger$/, 'what others have written runs nowhere')
        t.notMatch(await page.content(), 'token=secret', 'a query may hold one')
      }

      await open('projections/catalog')
      await press('Replay catalog')
      await confirm('Replay catalog')
      await ended('replay', /^Replayed catalog .* readers see generation 2 now/)
      for (const [action, message] of others) {
        await press(`${action} catalog`)
        await confirm(`${action} catalog`)
        await ended(action.toLowerCase(), message)
      }

      await open('parked')
      t.match(await page.getByRole('main').textContent(), `assistant-${assistant}@1`)
      const skips = page.getByRole('button', { name: new RegExp(`^Skip assistant-${assistant} of (assistants|dispatcher)$`) })
      for (let left = await skips.count(); left > 0; left = await skips.count()) { // the dispatcher parks it, too
        await skips.first().click()
        await page.getByLabel('Why it is given up').fill('it was made by a test')
        await confirm('Skip')
        await eventually(async () => await skips.count() < left)
      }

      await open('webhooks')
      await press(`Resume ${gone.url}`)
      await confirm('Resume')
      await page.getByText('It is sent to again').waitFor()

      const before = failing.received.length
      await open(`deliveries?user_id=1&url=${encodeURIComponent(failing.url)}`)
      await page.getByRole('main').getByRole('link').first().click()
      await page.getByText('webhook-id:').waitFor()
      await press('Send again')
      await confirm('Send again')
      await eventually(async () => failing.received.length > before)
      t.same(problems, [])
      await close()
    })
  }
}
