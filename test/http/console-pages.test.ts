// The console in a real browser: signing in and out, and that the form of an assistant knows the limits of the API.
// test/long/console has the pages, for everybody and with hostile names.
import t from 'tap'
import { screens, visit } from '../support/console/visit.js'
import { findChromium, openBrowser } from '../support/ops/operator.js'
import { testService } from '../support/service.js'

interface ApiField { minimum?: number, maximum?: number, maxLength?: number, default?: unknown }

const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the console is not tried in a browser')
else {
  const { url, call, token } = await testService(t)
  const browser = await openBrowser(t, chromium)
  const { page, enter, open, problems } = await visit(browser, url, screens.phone)

  t.test('a link signs in and leaves no token in the address; who is signed in already has to agree', async (t) => {
    await enter(await token('1'))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.notMatch(page.url(), 'token')
    const signedIn = await page.evaluate("sessionStorage.getItem('ringledger')")
    await enter(await token('2')) // without an answer to its question
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.equal(await page.evaluate("sessionStorage.getItem('ringledger')"), signedIn, 'another link asks first')
    t.notMatch(page.url(), 'token')
    t.equal(await page.evaluate('document.cookie + Object.keys(localStorage).filter((key) => /token|ringledger/.test(key))'), '')
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
  })

  t.test('a key that may only read changes nothing in the console', async (t) => {
    const { data: { key } } = (await call('POST', '/user/api-key', { name: 'Reader', scopes: ['read'] })).body
    await page.getByRole('button', { name: 'Sign out' }).click()
    await enter(key)
    await open('campaigns')
    await page.getByText('This API key may read, and change nothing.').waitFor()
    t.ok(await page.getByRole('button', { name: 'New campaign' }).isDisabled())
    await open('api-keys')
    await page.getByRole('alert').waitFor()
    t.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'who may not read it cannot try again')
    t.same(problems, [])
  })
}
