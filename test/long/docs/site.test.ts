// The site of the documents: its links lead somewhere, and it can be used from a disk, by everybody, with its search.
import { readFile, readdir } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { buildSite } from '../../../docs/site/build-site.js'
import { screens, visit } from '../../support/console/visit.js'
import { findChromium, openBrowser } from '../../support/ops/operator.js'
import { dataDir } from '../../support/ringledger.js'

const folder = dataDir(t)
const count = await buildSite(folder)
const files = (await readdir(folder, { recursive: true })).map((name) => name.replaceAll('\\', '/'))
const pages = new Map(await Promise.all(files.filter((name) => name.endsWith('.html')).map(async (name) =>
  [name, await readFile(join(folder, name), 'utf8')] as const)))
const at = (name: string) => pathToFileURL(join(folder, name)).href

t.test('every document is a page, and every link within the site leads to a page and its anchor', async (t) => {
  t.equal(pages.size, count)
  for (const name of await readdir('docs')) if (name.endsWith('.md')) t.ok(pages.has(`docs/${name.replace('.md', '.html')}`), name)
  let links = 0
  for (const [name, text] of pages) {
    for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      if (/^https?:/.test(href)) continue
      const [file = '', anchor] = href.split('#')
      const target = file === '' ? name : posix.join(posix.dirname(name), file)
      links++
      if (target.endsWith('.png') && files.includes(target)) continue
      const found = pages.get(target)
      if (found === undefined || (anchor !== undefined && !found.includes(` id="${anchor}"`))) t.fail(`${name}: ${href}`)
    }
  }
  t.ok(links > 500, `${links} links`)
})

t.test('a page loads nothing from elsewhere, and what it loads is there', async (t) => {
  for (const [name, text] of pages) {
    const loaded = [...text.matchAll(/<(?:script|link|img|iframe)\b[^>]*(?:src|href)="([^"]+)"/g)].map(([, to = '']) => to)
    t.equal(loaded.filter((to) => !/\.(svg|png)$/.test(to)).length, 3, name)
    for (const to of loaded) t.ok(files.includes(posix.join(posix.dirname(name), to)), `${name}: ${to}`)
    t.notMatch(text, /<script(?! defer src)|<style|\son\w+=|\sstyle=/, name)
  }
})

const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the site is not tried in a browser')
else {
  const browser = await openBrowser(t, chromium)
  t.test('on a phone in the dark pages can be used by everybody, and the search finds a section', async (t) => {
    const { page, barriers, problems } = await visit(browser, folder, screens.phone)
    for (const path of ['docs/tutorial.html', 'docs/design.html', 'index.html']) {
      await page.goto(at(path))
      t.same(await barriers(), [], path)
    }
    await page.keyboard.press('/')
    await page.keyboard.type('quaranti retr')
    await page.getByRole('link', { name: 'Parked events', exact: true }).waitFor()
    t.same(await barriers(), [], 'with what was found')
    await page.getByRole('link', { name: 'Parked events', exact: true }).click()
    await page.waitForURL('**/docs/operations.html#parked-events')
    t.ok(await page.locator('#parked-events').isVisible())
    t.notOk(await page.locator('#found').isVisible())
    await page.getByRole('searchbox', { name: 'Search' }).fill('xyzzyx')
    t.equal(await page.getByRole('status').textContent(), 'Nothing was found.')
    t.same(problems, [])
  })
}
