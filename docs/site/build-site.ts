// Makes the site of the documents: pages, one style sheet, and a search that needs no server.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import MiniSearch from 'minisearch'
import { packageRoot } from '../../src/package-root.js'
import { linksBetween } from './links.js'
import { page } from './page.js'
import { render } from './render.js'
import { pageOf, sourcesIn } from './sources.js'

const own = join(packageRoot, 'docs/site')
const options = { fields: ['words', 'text', 'title'], storeFields: ['words', 'title', 'href', 'text'] }
/** Of pictures that pages show. */
const folders = ['docs/performance', 'docs/console']
/** Of a section as many characters are kept to be shown where it is found. */
const shown = 240

/**
 * Writes everything below `folder`, which is emptied before.
 * @returns the number of pages
 * @throws when a link leads to no file
 */
export async function buildSite (folder: string): Promise<number> {
  const sources = sourcesIn(packageRoot)
  const { hrefFrom, broken } = linksBetween(sources.map(({ path }) => path), packageRoot)
  const pages = sources.map((source) => ({ source, rendered: render(source.text, hrefFrom(source.path)) }))
  if (broken.length > 0) throw new Error(`These links lead nowhere:\n${broken.join('\n')}`)
  rmSync(folder, { recursive: true, force: true })
  for (const { source, rendered } of pages) {
    const file = join(folder, pageOf(source.path))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, page(source, rendered, sources))
  }
  cpSync(join(own, 'style.css'), join(folder, 'style.css'))
  for (const pictures of folders) cpSync(join(packageRoot, pictures), join(folder, pictures), { recursive: true })
  const index = new MiniSearch(options)
  const sections = pages.flatMap(({ source: { path, title }, rendered }) => rendered.sections.map((section) =>
    ({ ...section, title, href: `${pageOf(path)}#${section.anchor}` })))
  index.addAll(sections.map((section, id) => ({ id, ...section })))
  writeFileSync(join(folder, 'search-index.js'), asScript(index, options))
  await build({
    entryPoints: [join(own, 'search.js')], outfile: join(folder, 'search.js'), bundle: true, minify: true, target: 'es2020'
  })
  return pages.length
}

/** A page that is opened from a disk may load scripts and no JSON. */
function asScript (index: MiniSearch, options: object): string {
  const { storedFields, ...rest } = index.toJSON()
  const cut = Object.fromEntries(Object.entries(storedFields).map(([id, fields]) =>
    [id, { ...fields, text: String(fields.text).slice(0, shown) }]))
  return `globalThis.ringledgerDocs = ${JSON.stringify({ options, index: { ...rest, storedFields: cut } })}\n`
}
