// Each action that a user has, pressed on a phone, and what the API says then.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { customerNumber } from '../../../src/domain/examples.js'
import { screens, visit } from '../../support/console/visit.js'
import { eventually } from '../../support/eventually.js'
import { findChromium, openBrowser } from '../../support/ops/operator.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/scenes.js'

const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the console is not tried in a browser')
else {
  const service = await webhookService(t)
  const { call, get, url } = service
  const hook = await receiver(t, answers(500))
  const assistant = await service.create(hook.url)
  const failed = [await service.complete(assistant, tried(1)), await service.complete(assistant, tried(1))]
  const lead = (await call('POST', '/user/lead', { phone_number: customerNumber, campaign_id: 1 })).body.data.id
  hook.answer = answers(204)
  const browser = await openBrowser(t, chromium)
  const { page, enter, open, barriers, problems } = await visit(browser, url, screens.phone)
  await enter(await service.token('1'))

  const main = page.getByRole('main')
  const dialog = page.getByRole('dialog')
  const said = (words: string | RegExp) => page.getByRole('status').getByText(words).first().waitFor()
  const press = (label: string) => main.getByRole('button', { name: label, exact: true }).first().click()
  const pressInDialog = async (label: string) => {
    await dialog.getByRole('button', { name: label, exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  /** Presses the button, fills in what its dialog asks for, and presses it there. */
  const act = async (label: string, fields: Record<string, string> = {}) => {
    await press(label)
    for (const [field, text] of Object.entries(fields)) await dialog.getByLabel(field).first().fill(text)
    await pressInDialog(label)
  }
  const code = (label: string) => main.getByRole('region', { name: label })
  const mayCall = async (key: string) =>
    (await fetch(`${url}/user/me`, { headers: { authorization: `Bearer ${key}` } })).status === 200
  const secretOf = async (path: string) => (await get(path)).data.secret

  t.test('a key is shown once, and refused when it is revoked', async (t) => {
    await open('api-keys')
    await act('New API key', { Name: 'Nightly <b>import</b>' })
    const key = await code('The new key').textContent() ?? ''
    t.ok(await mayCall(key))
    t.same(await barriers(), [])
    await press('Close')
    await page.locator('h1:focus').waitFor()
    await page.reload()
    await press('Revoke Nightly <b>import</b>')
    t.match(await dialog.textContent(), 'Nightly <b>import</b>')
    await pressInDialog('Revoke')
    await eventually(async () => !await mayCall(key))
    await main.getByText('There is no key yet').waitFor()
    t.notMatch(await page.content(), key)
  })

  t.test('a secret is hidden, shown and changed', async (t) => {
    await open('webhooks')
    await main.getByText('The secret that signs').click()
    await press('Show the secret')
    const first = await code('Secret').textContent()
    t.equal(first, await secretOf('/user/webhook-secret'))
    await act('Change the secret', { Hours: '1' })
    await main.getByText('The former one signs as well').waitFor()
    await eventually(async () => await code('Secret').textContent() !== first)
    const mine = await secretOf('/user/webhook-secret')
    t.equal(await code('Secret').textContent(), mine)
    t.same(await barriers(), [])
  })

  t.test('what goes with a webhook is set, shown in part, and taken away', async (t) => {
    await open(`assistants/${assistant}/webhook`)
    await press('Add one')
    await main.getByPlaceholder('Name').fill('x-shop')
    await main.getByPlaceholder('Value').fill('a-long-secret')
    await main.locator('[data-path="max_per_second"]').fill('0')
    await press('Save')
    await main.locator('[data-path="max_per_second"][aria-invalid="true"]').waitFor()
    await main.locator('[data-path="max_per_second"]').fill('5')
    await press('Save')
    await main.getByText('…cret').waitFor()
    const options = `/user/assistant/${assistant}/webhook-options`
    t.match((await get(options)).data, { max_per_second: 5, headers: { 'x-shop': '…cret' } })
    t.same(await barriers(), [])
    await act('Remove these headers')
    await main.getByText('No headers of your own').waitFor()
    t.match((await get(options)).data, { max_per_second: 5, headers: {} })
  })

  t.test('webhooks are sent again: one as a test, marked ones, and what was missed', async (t) => {
    await open(`assistants/${assistant}/webhook`)
    await act('Send a test')
    await main.getByRole('heading', { name: 'Webhook' }).waitFor()
    await main.locator('.state', { hasText: 'Delivered' }).first().waitFor()

    await open(`webhooks?assistant_id=${assistant}&status=scheduled`)
    const all = main.getByLabel('Mark all of this page')
    await all.check()
    t.same(await barriers(), [])
    await act('Send 2 again')
    await said('2 webhooks are sent again')
    for (const { id } of failed) await service.delivery(id, ({ status }) => status === 'delivered')
    await main.getByText('Nothing matches these filters').waitFor()

    await open(`assistants/${assistant}/webhook`)
    await act('Send what was missed', { 'Created from': '2026-01-31T12:00' })
    t.same(await barriers(), [])
  })

  t.test('an assistant is created once the field that was refused is mended, changed, set back, switched off and on, and deleted', async (t) => {
    await open('assistants/new')
    const field = (name: string) => main.locator(`[data-path="${name}"]`)
    const texts = {
      assistant_name: 'Evenings',
      timezone: 'Europe/Amsterdam',
      system_prompt: 'Help.',
      initial_message: 'Hello!',
      llm_model: 'gpt-4o',
      speech_speed: '9'
    }
    const chosen = { calls_direction: 'make', language: 'English', engine_type: 'pipeline', voice_id: '1' }
    for (const [name, text] of Object.entries(texts)) await field(name).fill(text)
    for (const [name, value] of Object.entries(chosen)) await field(name).selectOption(value)
    await press('Create assistant')
    await main.locator('[data-path="speech_speed"][aria-invalid="true"]').waitFor()
    t.match(await main.locator('.mantine-InputWrapper-error').allTextContents(), [/between 0.7 and 1.2/])
    t.same(await barriers(), [])
    await field('speech_speed').fill('1.1')
    await press('Create assistant')
    await main.getByRole('heading', { name: 'Evenings' }).waitFor()
    const id = Number(/assistants\/(\d+)/.exec(page.url())?.[1])

    await field('max_call_duration').fill('300')
    await press('Save changes')
    await said('Assistant updated')
    await open(`assistants/${id}/history`)
    t.match(await main.locator('ins').first().textContent(), '300')
    await main.getByRole('button', { name: 'Restore what was set on' }).click()
    await pressInDialog('Restore')
    await eventually(async () => await main.locator('tbody tr').count() === 3)

    await open(`assistants/${id}`)
    for (const [button, status] of [['Switch off', 'inactive'], ['Switch on', 'active']] as const) {
      await press(button)
      await eventually(async () => (await get(`/user/assistant/${id}`)).data.status === status)
      await main.locator('.state', { hasText: new RegExp(status, 'i') }).first().waitFor()
    }
    await act('Delete')
    await main.getByRole('heading', { name: 'Assistants' }).waitFor()
    t.equal(await main.locator(`a[href="#/assistants/${id}"]`).count(), 0)
  })

  for (const [at, add, fields, remove, name] of [
    ['campaigns', 'New campaign', { Name: 'Autumn' }, 'Delete', 'Autumn'],
    ['numbers', 'Add a number', { 'Phone number': '+15551230177' }, 'Release', '+15551230177'],
    ['do-not-call', 'Add a number', { 'Phone number': '+15551230178', Why: 'asked us' }, 'Allow calls', '+15551230178']
  ] as const) {
    t.test(`${at}: one is added, seen at once, and taken away`, async (t) => {
      await open(at)
      await act(add, fields)
      const row = main.getByRole('row').filter({ hasText: name })
      await row.waitFor()
      if (at === 'campaigns') {
        await row.getByRole('button', { name: 'Rename' }).click()
        await dialog.getByLabel('Name').fill(`${name} renewals`)
        await pressInDialog('Rename')
        await main.getByText(`${name} renewals`).waitFor()
      }
      t.same(await barriers(), [])
      await row.getByRole('button', { name: remove }).click()
      await pressInDialog(remove)
      await row.waitFor({ state: 'detached' })
    })
  }

  t.test('a lead is changed; what somebody changes meanwhile, and what was typed, is kept', async (t) => {
    await open(`leads/${lead}`)
    await main.getByText('Change this lead').click()
    await main.getByLabel('Variables: value of customer_name').fill('مريم <i>')
    await press('Add another contact')
    await main.locator('[data-path="secondary_contacts.0.phone_number"]').fill('12')
    await press('Save changes')
    await main.locator('[data-path="secondary_contacts.0.phone_number"][aria-invalid="true"]').waitFor()
    t.same(await barriers(), [])
    await main.locator('[data-path="secondary_contacts.0.phone_number"]').fill('+15551230133')
    await press('Save changes')
    await main.getByText('مريم <i>').first().waitFor()

    const at = `/user/lead/${lead}`
    await main.getByText('Change this lead').click()
    t.notMatch(await main.locator('[data-path="status"] option').allTextContents(), ['Processing'])
    await main.locator('[data-path="status"]').selectOption('completed')
    await call('PUT', at, { variables: { customer_name: 'Grace' } })
    await press('Save changes')
    await main.getByRole('alert').getByText('Somebody has changed this meanwhile').waitFor()
    t.match((await get(at)).data, { status: 'created', variables: { customer_name: 'Grace' } })
    t.same(await barriers(), [])
    await press('Load what it is now')
    t.equal(await main.locator('[data-path="variables.0.text"]').inputValue(), 'Grace')
    t.equal(await main.locator('[data-path="status"]').inputValue(), 'completed', 'what was typed stays')
    await press('Save changes')
    await said('Lead updated')
    t.match((await get(at)).data, {
      status: 'completed', variables: { customer_name: 'Grace' }, secondary_contacts: [{ phone_number: '+15551230133' }]
    })
  })

  t.test('what failed of an import is a file of these rows, to be mended and imported again', async (t) => {
    const start = async (name: string, text: string, rows: number) => {
      await open('leads/import')
      await main.getByLabel('File of leads').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
      await main.locator('[data-path="campaign_id"]').selectOption({ index: 1 })
      await press('Start the import')
      await main.getByText(`${rows} of ${rows}`).first().waitFor({ timeout: 30_000 })
    }
    await start('leads.csv', 'Phone Number;customer_name;plan\n+15551230141;"Ada\nExample";gold\n\n12;"No; body";\n', 2)
    const saving = page.waitForEvent('download')
    await press('Download what failed')
    const failed = await readFile(await (await saving).path(), 'utf8')
    t.match(failed, /^\ufeffimport_line;import_error;Phone Number;customer_name;plan\r\n5;phone_number must be [^;]*;12;"No; body";\r\n$/)
    t.same(await barriers(), [])
    await start('mended.csv', failed.replace(';12;', ';+15551230142;'), 1)
    const { data: [mended] } = await get('/user/leads?phone_number=%2B15551230142')
    t.same(mended.variables, { customer_name: 'No; body', email: '', plan: '' }, 'what was said of the row is no variable')
  })

  t.test('a copy of a person is made and kept, and the person is erased once their number is typed', async (t) => {
    await open('persons')
    const number = main.getByLabel('Phone number')
    await number.fill('0123')
    await main.getByText('A phone number begins with +').waitFor()
    await number.fill(customerNumber)
    await act('Make a copy')
    const saving = page.waitForEvent('download')
    await main.getByRole('button', { name: 'Download the copy' }).click({ timeout: 60_000 })
    t.match(await readFile(await (await saving).path(), 'utf8'), customerNumber)
    await press('Erase the person')
    const erase = dialog.getByRole('button', { name: 'Erase the person' })
    t.ok(await erase.isDisabled())
    await dialog.getByLabel('to confirm').fill(customerNumber)
    t.same(await barriers(), [])
    await pressInDialog('Erase the person')
    await main.getByText('Erasure', { exact: true }).waitFor()
    await main.locator('.state', { hasText: 'Completed' }).waitFor({ timeout: 60_000 })
    t.equal((await call('GET', `/user/lead/${lead}`)).status, 404)
  })

  t.test('what is typed when a session expires is there after signing in again, and for nobody else', async (t) => {
    const { data: { id, key } } = (await call('POST', '/user/api-key', { name: 'Until soon', scopes: ['read', 'write'] })).body
    const input = page.getByLabel('API key or token')
    const signIn = async (given: string) => {
      await input.fill(given)
      await page.keyboard.press('Enter')
      await input.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(key)
    await open('assistants/new')
    const name = page.locator('[data-path="assistant_name"]')
    await name.fill('Half of it')
    await call('DELETE', `/user/api-key/${id}`)
    const headers = { authorization: `Bearer ${key}` }
    await eventually(async () => (await call('GET', '/user/assistants', undefined, { headers })).status === 401)
    await page.getByRole('button', { name: 'Create assistant' }).click()
    await page.getByText('Your session has expired').waitFor()
    t.same(await barriers(), [])
    await signIn(await service.token('1'))
    t.equal(await name.inputValue(), 'Half of it')

    await open('campaigns')
    await page.route('**/user/campaigns*', async (route) => await route.fulfill({ status: 401, json: { message: 'Unauthenticated.' } }))
    await page.getByRole('button', { name: 'New campaign' }).click()
    await input.waitFor()
    await page.unroute('**/user/campaigns*')
    await signIn(await service.token('2'))
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor()
    t.equal(await dialog.count(), 0, 'somebody else begins anew')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You have signed out').waitFor()
    t.equal(await page.evaluate('sessionStorage.length'), 0)
    await signIn(await service.token('1'))
  })

  t.test('a list shows what was written here at once, what others write soon, and rests while nobody sees it', async (t) => {
    await page.clock.install()
    await page.reload()
    await main.getByRole('heading').first().waitFor()
    let looks = 0
    page.on('request', (request) => { if (request.method() === 'GET' && request.url().includes('/user/campaigns')) looks += 1 })
    await open('campaigns')
    await act('New campaign', { Name: 'Mine' })
    await main.getByText('Mine', { exact: true }).waitFor()
    await call('POST', '/user/campaign', { name: 'Of somebody else' })
    await main.getByText('Of somebody else').waitFor()

    const see = async (state: string) => await page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await see('hidden')
    await page.clock.runFor(10_000) // a look may be under way
    const before = looks
    await call('POST', '/user/campaign', { name: 'Of the night' })
    await page.clock.runFor(120_000)
    t.equal(looks, before, 'it rests')
    await see('visible')
    await page.clock.runFor(10_000)
    await main.getByText('Of the night').waitFor()
  })

  t.test('nothing went wrong on the way', async (t) => t.same(problems, []))
}
