// For `node --import`: records every module, ours or of a package, that the process imports or requires.
import { appendFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const write = (urls) => appendFileSync(process.env.RECORD_LOADS, urls.map((url) => `${url}\n`).join(''))

/** A module hook, called in a thread of its own. */
export async function load (url, context, next) {
  write([url])
  return await next(url, context)
}

if (isMainThread) {
  register(import.meta.url)
  // The hook does not see what CommonJS modules require.
  process.on('exit', () => write(Object.keys(createRequire(import.meta.url).cache).map((path) => pathToFileURL(path).href)))
}
