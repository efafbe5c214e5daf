// Which files become pages, in the order of the menu.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Source {
  /** From the root of the repository, such as `docs/operations.md`. */
  path: string
  title: string
  group: string
  text: string
}

const groups: Record<string, string[]> = {
  'Get to know it': ['README.md', 'docs/tutorial.md', 'examples/README.md', 'docs/compare.md'],
  'Connect to it': ['docs/receiving-webhooks.md', 'docs/call-engine.md', 'docs/imports.md', 'docs/clients.md'],
  'Run it': [
    'docs/operations.md', 'docs/webhooks.md', 'docs/eventstoredb.md', 'docs/embedded-postgres.md',
    'docs/embedded-event-store.md', 'docs/scaling.md', 'docs/performance.md', 'docs/security.md',
    'docs/privacy.md'
  ],
  'Change it': ['CONTRIBUTING.md', 'docs/design.md', 'docs/adding.md', 'docs/changing-events.md', 'bench/README.md']
}

/** A page of `docs` that no group names is in the menu all the same. */
export function sourcesIn (root: string): Source[] {
  const named = Object.entries(groups).flatMap(([group, paths]) => paths.map((path) => ({ group, path })))
  const others = markdownIn(root, 'docs').map((path) => ({ group: 'Run it', path }))
  const packages = readdirSync(join(root, 'packages')).map((name) => ({ group: 'Packages', path: `packages/${name}/README.md` }))
  const all = [...named, ...others, ...packages, { group: 'Changes', path: 'CHANGELOG.md' }]
  const once = all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index)
  return once.filter(({ path }) => existsSync(join(root, path))).map((each) => {
    const text = readFileSync(join(root, each.path), 'utf8')
    return { ...each, text, title: /^# (.+)$/m.exec(text)?.[1] ?? each.path }
  })
}

/** Where a page is in the site. */
export const pageOf = (path: string): string => path.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html')

const markdownIn = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith('.md')).sort().map((name) => `${folder}/${name}`)
