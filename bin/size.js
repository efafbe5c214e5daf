// `npm run size [-- FOLDER]`: how large a checkout is, beside the start (commit 6b9cd9c2) and the aim.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const isTest = (path) => /^(test|packages\/[^/]+\/test)\//.test(path)
const isOurs = (path) => path !== 'packages/client/src/api.ts' && !path.startsWith('packages/console/')

const all = ['src', 'projections', 'workers', 'packages', 'test'].flatMap(filesIn).filter(({ path }) => isOurs(path))
const source = all.filter(({ path }) => !isTest(path))
const migrations = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql')).sort()

print([
  ['', 'start', 'now', 'aim'],
  ['lines of source', 52_509, sum(source, linesOf), 36_000],
  ['tokens of source', 377_793, sum(source, tokensOf), 259_000],
  ['files of source', 914, source.length, 330],
  ['folders of source', 154, new Set(source.map(({ folder }) => folder)).size, 45],
  ['tables of ledger', 41, ledgerTables().size, 22],
  ['migrations', 43, migrations.length, 6],
  ['lines of tests and their support', 50_030, sum(all.filter(({ path }) => isTest(path)), linesOf), 32_000]
])

function filesIn (place) {
  return readdirSync(join(root, place), { recursive: true })
    .filter((name) => name.endsWith('.ts') && !/(^|[/\\])(dist|node_modules)[/\\]/.test(name))
    .map((name) => {
      const path = join(place, name).replaceAll('\\', '/')
      return { path, folder: dirname(path), text: readFileSync(join(root, path), 'utf8') }
    })
}

function linesOf ({ text }) {
  return text.trimEnd().split('\n').length
}

/** The leaves of the tree: the scanner alone takes a template or a regular expression for something else. */
function tokensOf ({ path, text }) {
  const count = (node) => {
    const children = node.getChildren(tree).filter((child) => !ts.isJSDoc(child))
    return children.length === 0 ? Number(node.kind !== ts.SyntaxKind.SyntaxList) : sum(children, count)
  }
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  return count(tree)
}

/** Those that are there after all migrations. */
function ledgerTables () {
  const tables = new Set()
  const changes = /\b(CREATE(?: UNLOGGED)?|DROP|ALTER) TABLE (?:IF (?:NOT )?EXISTS )?ledger\.(\w+)(?:\s+RENAME TO (\w+))?/gi
  for (const name of migrations) {
    const [up = ''] = readFileSync(join(root, 'migrations', name), 'utf8').split('-- Down Migration')
    for (const [, verb, table, renamed] of up.replace(/--.*$/gm, '').matchAll(changes)) {
      if (/^create/i.test(verb)) tables.add(table)
      if (/^drop/i.test(verb) || renamed) tables.delete(table)
      if (renamed) tables.add(renamed)
    }
  }
  return tables
}

function sum (items, of) {
  return items.reduce((total, item) => total + of(item), 0)
}

function print (rows) {
  const text = (cell) => typeof cell === 'number' ? cell.toLocaleString('en') : cell
  for (const [name, ...cells] of rows) console.log(name.padEnd(34), ...cells.map((cell) => text(cell).padStart(8)))
}
