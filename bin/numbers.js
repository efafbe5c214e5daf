// `npm run numbers`: how large and how wide the code is, beside what it is not to exceed.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const rooms = ['src', 'projections', 'workers', 'packages']
const generated = 'packages/client/src/api.ts'
const aRoute = 'src/commands/lead/create-lead.ts'

const all = [...rooms, 'test', 'bench'].flatMap(filesIn).filter(({ path }) => path !== generated)
const isTest = ({ path }) => /^(test|packages\/[^/]+\/test)\//.test(path)
const tests = all.filter(isTest)
const source = all.filter((file) => !isTest(file) && !file.path.startsWith('bench/'))
const route = source.find(({ path }) => path === aRoute)

const functions = source.flatMap(({ tree }) => nodesIn(tree).filter((node) => ts.isFunctionLike(node) && node.body))
const lengths = functions.map(linesOf)
const handlers = source.filter(({ path }) => path.startsWith('src/commands/')).flatMap(({ tree }) => nodesIn(tree).filter(isHandler))
const [handler] = nodesIn(route.tree).filter(isHandler)
const [largestRoom, flat] = largest(all.map(({ path }) => dirname(path)))

table([
  [`lines of the handler in ${aRoute}`, linesOf(handler), 12],
  ['lines of a handler of a command, nine of ten', quantile(handlers.map(linesOf), 0.9)],
  ['own files that it imports', route.tree.statements.filter(isOwnImport).length, 8],
  ['lines over 120 columns, source, %', wideIn(source), 0.5],
  ['lines over 120 columns, tests, %', wideIn(tests), 1],
  ['lines of a file, median', quantile(source.map(({ lines }) => lines.length), 0.5)],
  ['lines of a file, nine of ten', quantile(source.map(({ lines }) => lines.length), 0.9)],
  ['lines of a function, median', quantile(lengths, 0.5)],
  ['lines of a function, nine of ten', quantile(lengths, 0.9)],
  ['casts in the source', source.flatMap(({ tree }) => nodesIn(tree).filter(isCast)).length, 28],
  [`files in the largest room, ${largestRoom}`, flat, 12],
  ['files of source', source.length],
  ['lines of source', sum(source)],
  ['lines of tests to one of source', sum(tests) / sum(source), 1.5]
])

function filesIn (place) {
  return readdirSync(join(root, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\/(dist|node_modules)(\/|$)/.test(entry.parentPath))
    .map(({ parentPath, name }) => {
      const path = relative(root, join(parentPath, name))
      const text = readFileSync(join(root, path), 'utf8')
      return { path, lines: text.trimEnd().split('\n'), tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) }
    })
}

function nodesIn (node) {
  return [node, ...node.getChildren().flatMap(nodesIn)]
}

function isHandler (node) {
  return ts.isArrowFunction(node) && /^(async )?\(request, reply\)/.test(node.getText())
}

/** A blank or a comment before it does not count. */
function linesOf (node) {
  const file = node.getSourceFile()
  const lineAt = (position) => file.getLineAndCharacterOfPosition(position).line
  return lineAt(node.end) - lineAt(node.getStart()) + 1
}

function isOwnImport (statement) {
  return ts.isImportDeclaration(statement) && statement.moduleSpecifier.text.startsWith('.')
}

/** `as const` claims nothing that is not so. */
function isCast (node) {
  return ts.isAsExpression(node) && node.type.getText() !== 'const'
}

function wideIn (files) {
  const wide = files.flatMap(({ lines }) => lines.filter((line) => line.length > 120)).length
  return 100 * wide / sum(files)
}

function sum (files) {
  return files.reduce((before, { lines }) => before + lines.length, 0)
}

function quantile (values, share) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)]
}

function largest (names) {
  const counts = new Map()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].reduce((one, other) => other[1] > one[1] ? other : one)
}

function table (rows) {
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, value, most] of rows) {
    const aim = most === undefined ? '' : value <= most ? `at most ${most}` : `MISSED: at most ${most}`
    process.stdout.write(`${name.padEnd(width)}  ${String(Number.isInteger(value) ? value : value.toFixed(3)).padStart(7)}  ${aim}`.trimEnd() + '\n')
  }
}
