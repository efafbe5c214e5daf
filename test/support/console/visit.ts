// A visit to the console in a browser: opens pages, and finds barriers for people and errors of scripts.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { eventually } from '../eventually.js'

/** A desktop in light mode, and a phone in dark mode. */
export const screens = {
  wide: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  phone: { viewport: { width: 390, height: 800 }, colorScheme: 'dark' }
} as const

export const narrow = { ...screens.phone, viewport: { width: 360, height: 740 } }

export interface Visit {
  page: Page
  /** Complaints of the browser: failed scripts, and violations of the security policy. */
  problems: string[]
  enter (token: string): Promise<void>
  /** Opens the page at `#/` and this path, and waits for its heading and its data. */
  open (path: string): Promise<void>
  /** Violations that axe finds, all or critical ones, and whether the page is wider than the screen. */
  barriers (which?: 'all' | 'critical'): Promise<string[]>
  /** Layout shift since the page was opened, without user input; people notice 0.1 (web.dev/cls). */
  shift (): Promise<number>
  close (): Promise<void>
}

const watchShifts = `
  globalThis.shift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value
  }).observe({ type: 'layout-shift', buffered: true })`

export async function visit (browser: Browser, url: string, screen: BrowserContextOptions): Promise<Visit> {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  const context = await browser.newContext({ ...screen, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.addInitScript(watchShifts)
  page.setDefaultTimeout(15_000)
  const problems: string[] = []
  page.on('console', (message) => { if (/Security Policy|Uncaught/.test(message.text())) problems.push(message.text()) })
  page.on('pageerror', ({ message }) => problems.push(message))
  const settled = async () => {
    await page.locator('h1').waitFor()
    await eventually(async () => await page.locator('[aria-label="Loading"], [data-loading]').count() === 0)
    await page.locator('h1').waitFor() // that of the sign-in is gone by now
  }
  return {
    page,
    problems,
    async enter (token) {
      await page.goto(`${url}/#token=${token}`)
      await settled()
    },
    async open (path) {
      const isThere = new URL(page.url()).hash === `#/${path}`
      if (!isThere) {
        await page.evaluate(`shift = 0; document.querySelector('h1').classList.add('former'); location.hash = '#/${path}'`)
        await page.locator('h1:not(.former)').waitFor()
      }
      await settled()
    },
    async barriers (which = 'all') {
      await page.evaluate(axe)
      const { violations } = await page.evaluate<AxeResults>("axe.run({ preload: false, resultTypes: ['violations'] })")
      const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
      return [
        ...violations.filter(({ impact }) => which === 'all' || impact === which).map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ').slice(0, 300)}`),
        ...(isWide ? ['wider than the screen'] : [])
      ]
    },
    shift: () => page.evaluate<number>('shift'),
    close: () => context.close()
  }
}
