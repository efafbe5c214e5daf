// Each action that a user has, pressed on a phone, and what the API says then. A page follows what is written, here and
// elsewhere, and rests while nobody sees it.
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

  t.test('secrets are hidden, shown and changed: of the user, and of one assistant', async (t) => {
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

    await open(`assistants/${assistant}/webhook`)
    await act('Give it a new secret of its own')
    await main.getByText('This secret is of this assistant alone').waitFor()
    t.not(await code('Secret').textContent(), mine)
    await act('Go back to your secret')
    await main.getByText('The assistant has no secret of its own').waitFor()
    t.equal(await code('Secret').textContent(), mine)
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
    await call('PUT', options, { max_per_second: 7 })
    await main.locator('[data-path="max_per_second"]').fill('6')
    await press('Save')
    await main.getByRole('alert').getByText('Somebody has changed this meanwhile').waitFor()
    t.match((await get(options)).data, { max_per_second: 7 }, 'what another tab has saved')
    await press('Load what it is now')
    t.equal(await main.locator('[data-path="max_per_second"]').inputValue(), '6', 'what was typed stays')
    await press('Save')
    await eventually(async () => (await get(options)).data.max_per_second === 6)
  })

  t.test('webhooks are sent again: one as a test, marked ones, and what was missed', async (t) => {
    await open(`assistants/${assistant}/webhook`)
    await act('Send a test')
    await main.getByRole('heading', { name: 'Webhook' }).waitFor()
    await main.locator('.state', { hasText: 'Delivered' }).first().waitFor()

    await open(`webhooks?assistant_id=${assistant}&status=scheduled`)
    const all = main.getByLabel('Mark all of this page')
    await all.check()
    await main.getByLabel(`Mark the webhook of call ${failed[0]?.call_id}`).uncheck()
    await main.getByRole('button', { name: 'Send 1 again' }).waitFor()
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

  t.test('an assistant is created once the field that was refused is mended, changed, and set back', async (t) => {
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
  })

  t.test('an assistant is switched off and on, and deleted', async (t) => {
    const path = `assistants/${await service.create(hook.url)}`
    await open(path)
    for (const [button, status] of [['Switch off', 'inactive'], ['Switch on', 'active']] as const) {
      await press(button)
      await eventually(async () => (await get(`/user/${path.replace('s/', '/')}`)).data.status === status)
      await main.locator('.state', { hasText: new RegExp(status, 'i') }).first().waitFor()
    }
    await act('Delete')
    await main.getByRole('heading', { name: 'Assistants' }).waitFor()
    t.equal(await main.locator(`a[href="#/${path}"]`).count(), 0)
  })

  for (const { at, added, removed, name } of [
    { at: 'campaigns', added: { label: 'New campaign', fields: { Name: 'Autumn' } }, removed: 'Delete', name: 'Autumn' },
    { at: 'numbers', added: { label: 'Add a number', fields: { 'Phone number': '+15551230177' } }, removed: 'Release', name: '+15551230177' },
    { at: 'do-not-call', added: { label: 'Add a number', fields: { 'Phone number': '+15551230178', Why: 'asked us' } }, removed: 'Allow calls', name: '+15551230178' }
  ]) {
    t.test(`${at}: one is added, seen at once, and taken away`, async (t) => {
      await open(at)
      await act(added.label, added.fields)
      const row = main.getByRole('row').filter({ hasText: name })
      await row.waitFor()
      if (at === 'campaigns') {
        await row.getByRole('button', { name: 'Rename' }).click()
        await dialog.getByLabel('Name').fill(`${name} renewals`)
        const { data: [{ id }] } = await get(`/user/campaigns?search=${name}`)
        await call('PUT', `/user/campaign/${id}`, { name: `${name} of another tab` })
        const rename = dialog.getByRole('button', { name: 'Rename', exact: true })
        await rename.click()
        await dialog.getByText('so your changes are not saved').waitFor()
        await dialog.getByRole('button', { name: 'Load what it is now' }).click()
        await rename.click()
        await dialog.waitFor({ state: 'detached' })
        await main.getByText(`${name} renewals`).waitFor()
      }
      t.same(await barriers(), [])
      await row.getByRole('button', { name: removed }).click()
      await pressInDialog(removed)
      await row.waitFor({ state: 'detached' })
    })
  }

  t.test('a lead is changed', async (t) => {
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
    t.match((await get(`/user/lead/${lead}`)).data, { secondary_contacts: [{ phone_number: '+15551230133' }] })

    await main.getByText('Change this lead').click()
    t.equal(await main.locator('[data-path="secondary_contacts.0.phone_number"]').inputValue(), '+15551230133')
    await main.locator('[data-path="status"]').selectOption('scheduled')
    await press('Save changes')
    await main.locator('.state', { hasText: 'Scheduled' }).first().waitFor()
    t.match((await get(`/user/lead/${lead}`)).data, {
      status: 'scheduled', variables: { customer_name: 'مريم <i>' }, secondary_contacts: [{ phone_number: '+15551230133' }]
    }, 'what was saved before is still there')
  })

  t.test('a lead that somebody changes meanwhile keeps that, and what was typed, and has no status that the API refuses', async (t) => {
    const at = `/user/lead/${lead}`
    await open(`leads/${lead}`)
    await main.getByText('Change this lead').click()
    t.notMatch(await main.locator('[data-path="status"] option').allTextContents(), ['Processing'])
    await main.locator('[data-path="status"]').selectOption('completed')
    await call('PUT', at, { variables: { customer_name: 'Grace' } })
    await press('Save changes')
    await main.getByRole('alert').getByText('Somebody has changed this meanwhile').waitFor()
    t.match((await get(at)).data, { status: 'scheduled', variables: { customer_name: 'Grace' } })
    t.same(await barriers(), [])
    await press('Load what it is now')
    t.equal(await main.locator('[data-path="variables.0.text"]').inputValue(), 'Grace')
    t.equal(await main.locator('[data-path="status"]').inputValue(), 'completed', 'what was typed stays')
    await press('Save changes')
    await said('Lead updated')
    t.match((await get(at)).data, { status: 'completed', variables: { customer_name: 'Grace' } })
  })

  t.test('what failed of an import is a file of these rows, to be mended and imported again', async (t) => {
    const choose = async (label: string, name: string, text: string) =>
      await main.getByLabel(label).setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
    const start = async (rows: number) => {
      await main.locator('[data-path="campaign_id"]').selectOption({ index: 1 })
      await press('Start the import')
      await main.getByText(`${rows} of ${rows}`).first().waitFor({ timeout: 30_000 })
    }
    const downloaded = async () => {
      const saving = page.waitForEvent('download')
      await press('Download what failed')
      return await readFile(await (await saving).path(), 'utf8')
    }
    await open('leads/import')
    const file = 'Phone Number;customer_name;plan\n+15551230141;"Ada\nExample";gold\n\n12;"No; body";\n'
    await choose('File of leads', 'leads.csv', file)
    await start(2)
    const failed = await downloaded()
    const rows = /^\ufeffimport_line;import_error;Phone Number;customer_name;plan\r\n5;phone_number must be [^;]*;12;"No; body";\r\n$/
    t.match(failed, rows)
    t.same(await barriers(), [])
    await page.reload()
    t.match(await downloaded(), /^\ufeffrow,outcome,lead_id,errors\r\n3,invalid,,/, 'the API does not keep the rows')
    await choose('File that you have imported', 'other.csv', 'phone_number\n12\n')
    await page.getByText('This file has 1 row').waitFor()
    await choose('File that you have imported', 'leads.csv', file)
    await main.getByText('The file has each row as you sent it').waitFor()
    t.match(await downloaded(), rows)

    await open('leads/import')
    await choose('File of leads', 'mended.csv', failed.replace(';12;', ';+15551230142;'))
    await start(1)
    const { data: [mended] } = await get('/user/leads?phone_number=%2B15551230142')
    t.same(mended.variables, { customer_name: 'No; body', email: '', plan: '' }, 'what was said of the row is no variable')
  })

  t.test('a filter that the API refuses says so, and is empty once all are shown', async (t) => {
    await open('webhooks')
    const filter = main.getByLabel('Answer (HTTP status)')
    await filter.fill('abc')
    await main.locator('input[aria-invalid="true"]').waitFor()
    t.same(await barriers(), [])
    await filter.fill('599')
    await press('Show all')
    await eventually(async () => await filter.inputValue() === '')
    await main.getByRole('row').first().waitFor()
  })

  t.test('on a phone the keyboard reaches the navigation only where it is open', async () => {
    const navigation = page.getByRole('navigation', { name: 'Pages' })
    await navigation.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Navigation' }).press('Enter')
    await navigation.waitFor()
    await page.getByRole('button', { name: 'Navigation' }).press('Enter')
  })

  t.test('without a network a change fails at once, and can be tried again', async () => {
    await open('campaigns')
    await press('New campaign')
    await dialog.getByLabel('Name').fill('Of a train')
    await page.context().setOffline(true)
    await dialog.getByRole('button', { name: 'New campaign' }).click()
    await dialog.getByText('Ringledger cannot be reached').waitFor()
    await page.context().setOffline(false)
    await pressInDialog('New campaign')
    await main.getByText('Of a train').waitFor()
    await open(`assistants/${assistant}`)
    await page.context().setOffline(true)
    await press('Switch off')
    await said('Ringledger cannot be reached')
    await page.context().setOffline(false)
  })

  t.test('a link whose token is nonsense asks for another one', async (t) => {
    const other = await visit(browser, url, screens.phone)
    await other.enter('%zz')
    await other.page.getByText('This is not valid').waitFor()
    t.same(other.problems, [])
    await other.close()
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
    t.match(await page.title(), 'New assistant')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'New assistant', 'whose button was disabled')

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
    const positions: Array<string | undefined> = []
    page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/user/campaigns')) positions.push(request.headers()['x-read-position'])
    })
    await open('campaigns')
    const written = page.waitForResponse((response) => response.request().method() === 'POST')
    await act('New campaign', { Name: 'Mine' })
    const position = (await written).headers()['x-read-position']
    await main.getByText('Mine', { exact: true }).waitFor()
    t.ok(positions.includes(position), 'it asks for what it wrote')

    await call('POST', '/user/campaign', { name: 'Of somebody else' })
    await main.getByText('Of somebody else').waitFor()

    const see = async (state: string) => await page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await see('hidden')
    await page.clock.runFor(10_000) // a look may be under way
    const before = positions.length
    await call('POST', '/user/campaign', { name: 'Of the night' })
    await page.clock.runFor(120_000)
    t.equal(positions.length, before, 'it rests')
    await see('visible')
    await page.clock.runFor(10_000)
    await main.getByText('Of the night').waitFor()
  })

  t.test('nothing went wrong on the way', async (t) => t.same(problems, []))
}
