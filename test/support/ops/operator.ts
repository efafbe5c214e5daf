// A browser, where there is one.
import { chromium, type Browser } from 'playwright-core'
import type { Test } from 'tap'
import { onPath } from '../ringledger.js'

/** Where a Chromium is, if there is one. With REQUIRE_CHROMIUM=1 there must be. */
export function findChromium (): string | undefined {
  const found = onPath('chromium', 'chromium-browser', 'google-chrome')
  if (!found && process.env.REQUIRE_CHROMIUM === '1') throw new Error('REQUIRE_CHROMIUM=1, and chromium is not on the PATH')
  return found
}

// Without these flags it asks the internet for updates.
const args = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'
]

export async function openBrowser (t: Test, executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args })
  t.teardown(() => browser.close())
  return browser
}
