// For `node --import`: writes down every module of ours and of packages that the process loads, imported or required.
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
  // What a module of the older kind requires passes by the hook.
  process.on('exit', () => write(Object.keys(createRequire(import.meta.url).cache).map((path) => pathToFileURL(path).href)))
}
