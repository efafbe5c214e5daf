// Every page of a user, with much to show: for everybody, on every screen. With --snapshot ten of them become the
// pictures of docs/console.md.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'
import { narrow, screens, visit } from '../../support/console/visit.js'
import { findChromium, openBrowser } from '../../support/ops/operator.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/scenes.js'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'

const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the console is not tried in a browser')
else {
  const service = await webhookService(t)
  const { call, token } = service
  const good = await receiver(t)
  const failing = await receiver(t, answers(500, {}, 'try later'))
  const create = async (body: object) => (await call('POST', '/user/assistant', newAssistant(body))).body.data.id
  const assistants = [
    await create({ assistant_name: 'Renewals', calls_direction: 'make', is_webhook_active: true, webhook_url: good.url }),
    await create({ is_webhook_active: true, webhook_url: failing.url })
  ]
  await call('PUT', `/user/assistant/${assistants[0]}`, { speech_speed: 1.1, initial_message: 'Good morning! Is this a good moment?' })
  const leads: number[] = []
  for (const [index, customer_name] of ['Ada Example', 'Grace Sample', 'Alan Specimen', 'Mary Model'].entries()) {
    const variables = { customer_name, email: 'someone@example.com', plan: 'gold' }
    const body = { phone_number: `+1555123010${index}`, campaign_id: 1, variables, secondary_contacts: [{ phone_number: '+15551230199' }] }
    leads.push((await call('POST', '/user/lead', body)).body.data.id)
  }
  const transcript = [
    { role: 'assistant', text: 'Good morning, Ada! Your policy renews on the first. Shall I keep it as it is?', at: 0.4 },
    { role: 'customer', text: 'Yes, please. Did the price change?', at: 6 },
    { role: 'assistant', text: 'It did not. I have renewed it, and you will get a letter.', at: 10 },
    { role: 'tool', text: 'renewed policy 1234', at: 14 }
  ]
  const statuses = ['completed', 'completed', 'no-answer', 'completed', 'voicemail', 'failed']
  for (let index = 0; index < 60; index++) {
    const ended = Date.now() - index * index * 20_000
    await call('POST', `/engine/calls/renewal-${1000 - index}/completed`, callReport(assistants[index % 4 === 3 ? 1 : 0], {
      lead_id: leads[index % leads.length],
      status: statuses[index % 6],
      direction: 'outbound',
      from: '+15551230001',
      to: '+15551230100',
      started_at: new Date(ended - 42_000).toISOString(),
      ended_at: new Date(ended).toISOString(),
      transcript
    }), { user: 'engine' })
  }
  const failed = await service.complete(assistants[1], tried(1))
  await call('POST', '/user/blacklist', { phone_number: '+15551230150', reason: 'Asked us not to call' })
  await call('POST', '/user/api-key', { name: 'Billing', scopes: ['read'] })
  const browser = await openBrowser(t, chromium)

  /** Ten of them have a picture. */
  const pages: Record<string, string | undefined> = {
    '': 'overview',
    assistants: 'assistants',
    'assistants/new': undefined,
    [`assistants/${assistants[0]}`]: 'assistant',
    [`assistants/${assistants[0]}/history`]: 'history',
    [`assistants/${assistants[1]}/webhook`]: 'assistant-webhook',
    campaigns: undefined,
    leads: 'leads',
    'leads/new': undefined,
    'leads/import': undefined,
    [`leads/${leads[0]}`]: 'lead',
    calls: undefined,
    'calls/renewal-1000': 'call',
    webhooks: 'webhooks',
    [`webhooks/${failed.id}`]: 'webhook',
    numbers: undefined,
    'do-not-call': undefined,
    persons: undefined,
    'api-keys': undefined,
    nowhere: undefined
  }
  const folder = join(packageRoot, 'docs/console')
  const takesPictures = process.env.TAP_SNAPSHOT === '1'

  for (const [name, screen] of Object.entries({ ...screens, narrow })) {
    t.test(`every page can be used on a ${name} screen`, async (t) => {
      const { page, enter, open, barriers, shift, problems, close } = await visit(browser, service.url, screen)
      await enter(await token('1'))
      for (const [path, picture] of Object.entries(pages)) {
        await open(path)
        if (takesPictures && name === 'wide' && picture !== undefined) {
          await mkdir(folder, { recursive: true })
          await page.waitForLoadState('networkidle')
          await page.screenshot({ path: join(folder, `${picture}.png`) })
        }
        t.same(await barriers(), [], path)
        const moved = await shift()
        t.ok(moved < 0.1, `${path} moves by ${moved.toFixed(3)}`)
      }
      t.same(problems, [])
      await close()
    })
  }

  t.test('the reference of the API has no critical barrier', async (t) => {
    const { page, barriers, problems, close } = await visit(browser, service.url, screens.phone)
    await page.goto(`${service.url}/docs`)
    await page.locator('.opblock-summary-control').nth(3).click()
    await page.locator('.opblock-body').waitFor()
    t.same(await barriers('critical'), [])
    t.same(problems, [])
    await close()
  })

  t.test('an API that is away is said, with a way to try again, and then it goes on', async (t) => {
    const { page, enter, barriers, close } = await visit(browser, service.url, screens.phone)
    await enter(await token('1'))
    await page.route('**/user/campaigns*', (route) => route.fulfill({ status: 502, body: '<html>nginx</html>' }))
    await page.evaluate("location.hash = '#/campaigns'")
    await page.getByText('Ringledger could not answer this (Bad Gateway).').waitFor({ timeout: 40_000 })
    t.same(await barriers(), [])
    await page.unroute('**/user/campaigns*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Spring renewals' }).waitFor()
    await close()
  })

  t.test('by keyboard alone one gets from page to page, and into a dialog and out of it', async (t) => {
    const { page, enter, close } = await visit(browser, service.url, screens.wide)
    await enter(await token('1'))
    await page.getByRole('link', { name: 'Campaigns' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor()
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Campaigns', 'the heading has the focus')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[role=dialog] input:focus').waitFor() // its first field
    await page.keyboard.type('Summer renewals')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Summer renewals' }).waitFor()
    await page.getByRole('button', { name: 'Delete Summer renewals' }).press('Enter')
    await page.locator('[role=dialog] button:focus', { hasText: 'Cancel' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('button:focus', { hasText: 'Delete' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
    await page.locator('h1:focus').waitFor() // its button is gone
    t.equal(await page.getByRole('link', { name: 'Summer renewals' }).count(), 0)
    await close()
  })
}
