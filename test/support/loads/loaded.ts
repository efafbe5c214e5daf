// The modules that a process loaded which ran with `record-loads.js`.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { packageRoot } from '../../../src/package-root.js'

/** For `node --import`. */
export const recorder = pathToFileURL(join(packageRoot, 'test/support/loads/record-loads.js')).href

/** URLs of modules. A bundled program counts as its sources. */
export function loadedIn (file: string): string[] {
  const urls = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return [...new Set(urls.flatMap((url) => url.includes('/dist/programs/') ? sourcesOf(url) : [url]))]
}

function sourcesOf (url: string): string[] {
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8'))
  return sources.map((path) => new URL(path, url).href)
}
