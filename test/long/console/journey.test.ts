// What a user does at the console, from the first assistant to a webhook that is sent again, on a desktop and a phone.
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
  const browser = await openBrowser(t, chromium)
  for (const [name, screen] of Object.entries(screens)) {
    t.test(`a user sets up an assistant, imports leads and mends a webhook, on a ${name} screen`, async (t) => {
      const user = name === 'wide' ? '1' : '2'
      const failing = await receiver(t, answers(500, {}, 'not now'))
      const { page, enter, open, barriers, problems, close } = await visit(browser, service.url, screen)
      const press = (label: string) => page.getByRole('button', { name: label, exact: true }).click()
      const confirm = (label: string) => page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click()

      await enter(await service.token(user))
      await page.getByText('Create your first assistant').click()
      await page.getByRole('heading', { name: 'New assistant' }).waitFor()
      const fill = async (fields: Record<string, string>) => {
        for (const [field, text] of Object.entries(fields)) await page.locator(`[data-path="${field}"]`).fill(text)
      }
      const choose = async (fields: Record<string, string>) => {
        for (const [field, value] of Object.entries(fields)) await page.locator(`[data-path="${field}"]`).selectOption(value)
      }
      await fill({
        assistant_name: 'Renewals',
        timezone: 'Europe/Amsterdam',
        system_prompt: 'Renew the policy.',
        initial_message: 'Hello!',
        llm_model: 'gpt-4o',
        speech_speed: '9',
        webhook_url: failing.url
      })
      await choose({ calls_direction: 'make', language: 'English', engine_type: 'pipeline', voice_id: '1' })
      await page.locator('[data-path="is_webhook_active"]').check()
      await press('Create assistant')
      await page.locator('[data-path="speech_speed"][aria-invalid="true"]').waitFor()
      t.match(await page.locator('.mantine-InputWrapper-error').allTextContents(), [/between 0.7 and 1.2/])
      t.same(await barriers(), [], 'the form with an error')
      await fill({ speech_speed: '1.1' })
      await press('Create assistant')
      await page.getByRole('heading', { name: 'Renewals' }).waitFor()
      const id = Number(/assistants\/(\d+)/.exec(page.url())?.[1])

      await fill({ max_call_duration: '300' })
      await press('Save changes')
      await page.getByText('Assistant updated').first().waitFor()
      await open(`assistants/${id}/history`)
      t.match(await page.locator('ins').first().textContent(), '300')
      await page.getByRole('button', { name: 'Restore what was set on' }).click()
      await confirm('Restore')
      await eventually(async () => await page.locator('tbody tr').count() === 3)
      t.same(await barriers(), [], 'the history')

      await open('leads/import')
      await page.locator('input[type=file]').setInputFiles({
        name: 'leads.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`Phone Number;customer_name;plan\n${customerNumber};"Ada ""A"" Example";gold\n12;Nobody;\n`)
      })
      await page.getByText('the variable plan').waitFor()
      t.same(await barriers(), [], 'the preview of a file')
      await page.locator('[data-path="campaign_id"]').selectOption({ index: 1 })
      await press('Start the import')
      await page.getByText('2 of 2').waitFor({ timeout: 30_000 })
      await page.getByText('phone_number must be').waitFor()
      const saving = page.waitForEvent('download')
      await press('Download what failed')
      t.equal((await saving).suggestedFilename(), 'import-failed.csv')
      t.same(await barriers(), [], 'the import')

      const delivery = await service.complete(id, tried(1), user)
      await open('calls')
      await page.locator(`a[href="#/calls/${delivery.call_id}"]`).click()
      await page.getByText('Grüezi').waitFor()
      t.same(await barriers(), [], 'the call')
      await open(`webhooks/${delivery.id}`)
      await page.getByText('not now').waitFor()
      t.same(await barriers(), [], 'the webhook')
      failing.answer = answers(204)
      await press('Send again')
      t.same(await barriers(), [], 'the question')
      await confirm('Send again')
      await page.locator('.state', { hasText: 'Delivered' }).first().waitFor({ timeout: 20_000 })
      t.equal(failing.received.length, 2)
      t.same(problems, [])
      await close()
    })
  }
}
