// Which test files are run. They are named by their sources; what is run is compiled.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { packageRoot } from '../../src/package-root.js'

export interface TestFile {
  /** From the root of the repository, such as `test/ids.test.ts`. */
  source: string
  compiled: string
}

const extension = '.test.ts'

/** Is run in a part, by `npm run test:long`. */
export const isLong = (source: string) => /(^|\/)test\/long\//.test(source)

/** The tests in files and folders; without names all but the long ones. @throws when a name leads to no test */
export function filesOf (names: string[]): TestFile[] {
  const sources = names.length > 0 ? names.flatMap(sourcesOf) : everySource().filter((source) => !isLong(source))
  return [...new Set(sources)].map((source) => ({ source, compiled: join(packageRoot, compiledOf(source)) }))
}

export function everySource (): string[] {
  return ['test', 'packages'].flatMap(sourcesIn)
}

function sourcesOf (name: string): string[] {
  const path = relative(packageRoot, join(process.cwd(), name)).replace(`dist${sep}`, '').replace(/\.js$/, '.ts')
  const sources = sourcesIn(path)
  if (sources.length > 0) return sources
  throw new Error(`There is no test in ${name}`)
}

function sourcesIn (path: string): string[] {
  const whole = join(packageRoot, path)
  if (!existsSync(whole)) return []
  if (statSync(whole).isFile()) return [path]
  const entries = readdirSync(whole, { recursive: true, encoding: 'utf8' })
  return entries.filter((entry) => entry.endsWith(extension) && !entry.includes('node_modules'))
    .map((entry) => join(path, entry).replaceAll(sep, '/')).sort()
}

/** A package has a `dist` of its own; what is JavaScript already is run as it is. */
function compiledOf (source: string): string {
  const [, place, rest] = /^(packages\/[^/]+\/)?(.*)\.ts$/.exec(source) ?? []
  return rest === undefined ? source : join(place ?? '', 'dist', `${rest}.js`)
}
