// The console in a real browser: signing in and out, what users have written, and that the form of an assistant knows
// the limits of the API.
import t from 'tap'
import { hostileNames, screens, visit } from '../support/console/visit.js'
import { findChromium, openBrowser } from '../support/ops/operator.js'
import { newAssistant } from '../support/bodies/bodies.js'
import { testService } from '../support/service.js'

interface ApiField { minimum?: number, maximum?: number, maxLength?: number, default?: unknown }

const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the console is not tried in a browser')
else {
  const { url, call, token } = await testService(t)
  for (const assistant_name of hostileNames) await call('POST', '/user/assistant', newAssistant({ assistant_name }))
  const browser = await openBrowser(t, chromium)
  const { page, enter, open, barriers, problems } = await visit(browser, url, screens.phone)

  t.test('a link signs in, and its token is in the address no more', async (t) => {
    await enter(await token('1'))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.notMatch(page.url(), 'token')
    t.equal(await page.evaluate('document.cookie + Object.keys(localStorage).filter((key) => /token|ringledger/.test(key))'), '')
    t.same(await barriers(), [])
  })

  t.test('names that users make up are text, and stay in their place', async (t) => {
    await open('assistants')
    for (const name of hostileNames) await page.getByRole('link', { name, exact: true }).waitFor()
    t.match(await page.title(), /· Ringledger$/)
    t.same(await barriers(), [])
  })

  t.test('the form of an assistant has every field of the API, with its limits and what is usual', async (t) => {
    await open('assistants/new')
    const { components } = JSON.parse(await (await fetch(`${url}/docs/json`)).text())
    const fields: Record<string, ApiField> = components.schemas.AssistantInput.properties
    for (const [name, { minimum, maximum, maxLength, default: usual }] of Object.entries(fields)) {
      if (name === 'variables' || name === 'post_call_schema' || name === 'end_call_tool') continue // several inputs each
      const input = page.locator(`[data-path="${name}"]`)
      t.equal(await input.count(), 1, name)
      const isChoice = await page.locator(`select[data-path="${name}"]`).count() === 1
      if (maximum !== undefined && maximum < 1e9) {
        t.equal(await input.getAttribute('min'), String(minimum), name)
        t.equal(await input.getAttribute('max'), String(maximum), name)
      }
      if (maxLength !== undefined && !isChoice && name !== 'webhook_url') {
        t.equal(await input.getAttribute('maxlength'), String(maxLength), name)
      }
      if (typeof usual === 'boolean') t.equal(await input.isChecked(), usual, name)
      else if (usual !== undefined && usual !== null) t.equal(await input.inputValue(), String(usual), name)
    }
    t.same(await barriers(), [])
  })

  t.test('a token that has expired is asked for again, and leads back', async (t) => {
    await open('assistants')
    await page.evaluate('sessionStorage.setItem(\'ringledger\', \'{"token":"expired","role":"user"}\')')
    await page.reload()
    await page.getByText('Your session has expired').waitFor()
    t.same(await barriers(), [])
    await page.getByLabel('API key or token').fill(await token('engine', 'engine'))
    await page.keyboard.press('Enter')
    await page.getByText('This needs a token with the role ops.').waitFor()
    await page.getByLabel('API key or token').fill(await token('1'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Assistants' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You have signed out').waitFor()
    t.equal(await page.evaluate('sessionStorage.length'), 0)
    t.same(problems, [])
  })
}
