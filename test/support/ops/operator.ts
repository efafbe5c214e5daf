// An operator in a browser, and without one.
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { onPath } from '../ringledger.js'

/** Where a Chromium is, if there is one. With REQUIRE_CHROMIUM=1 there must be. */
export function findChromium (): string | undefined {
  const found = onPath('chromium', 'chromium-browser', 'google-chrome')
  if (!found && process.env.REQUIRE_CHROMIUM === '1') throw new Error('REQUIRE_CHROMIUM=1, and chromium is not on the PATH')
  return found
}

// Without these it asks the internet for updates, which a test has no business with.
const args = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'
]

export async function openBrowser (t: Test, executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args })
  t.teardown(() => browser.close())
  return browser
}

/** Logs in by keyboard alone. */
export async function logIn (page: Page, url: string, token: string): Promise<void> {
  await page.goto(`${url}/ops`)
  await page.locator('#token:focus').waitFor() // by itself, at the first rendering
  await page.keyboard.insertText(token)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

/** A session without a browser: its cookie, and the token of its forms. */
export async function session (url: string, token: string): Promise<{ cookie: string, csrf: string }> {
  const answer = await post(`${url}/ops/login`, { token })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = await (await fetch(`${url}/ops`, { headers: { cookie } })).text()
  return { cookie, csrf: /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '' }
}

/** Sends a form as a browser does, and follows nothing. */
export const post = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' })
