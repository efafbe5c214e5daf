// Test files by their sources, and where they are compiled.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { packageRoot } from '../../src/package-root.js'

export interface TestFile {
  /** From the root of the repository, such as `test/ids.test.ts`. */
  source: string
  compiled: string
}

const extension = '.test.ts'

/** The test files that are named, or lie below folders that are; those of everything when nothing is named. */
export function filesOf (patterns: string[]): TestFile[] {
  const sources = (patterns.length === 0 ? ['test', 'packages'] : patterns)
    .flatMap((pattern) => sourcesIn(sourceOf(pattern)))
  if (sources.length === 0) throw new Error(`There is no test file in ${patterns.join(' ')}`)
  return [...new Set(sources)].map((source) => ({ source, compiled: join(packageRoot, compiledOf(source)) }))
}

/** A package has a `dist` of its own. */
function compiledOf (source: string): string {
  const [, place = '', rest = ''] = /^(packages\/[^/]+\/)?(.*)\.ts$/.exec(source.replaceAll(sep, '/')) ?? []
  return join(place, 'dist', `${rest}.js`)
}

/** Who names what is compiled means its source. */
function sourceOf (pattern: string): string {
  return relative(packageRoot, join(process.cwd(), pattern)).replace(`dist${sep}`, '').replace(/\.js$/, '.ts')
}

function sourcesIn (path: string): string[] {
  const whole = join(packageRoot, path)
  if (!existsSync(whole)) return []
  if (statSync(whole).isFile()) return [path]
  const entries = readdirSync(whole, { recursive: true, encoding: 'utf8' })
  return entries.filter((entry) => entry.endsWith(extension) &&
    !entry.includes('node_modules')).map((entry) => join(path, entry)).sort()
}
