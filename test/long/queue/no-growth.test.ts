// A worker sends for months: nothing of an attempt is left when it has ended.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Dispatcher } from 'undici'
import { openPoster } from '../../../workers/deliver/post.js'

const attempts = 1_000_000
const atOnce = 100
const bytesPerAttempt = 30 // a listener takes 36, an entry of a set fifty

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Instead of connections: only what a worker keeps of its attempts is looked at. */
class Answers200 extends Dispatcher {
  override dispatch (_options: unknown, handler: Dispatcher.DispatchHandler): boolean {
    handler.onConnect?.(() => {})
    handler.onHeaders?.(200, [], () => {}, 'OK')
    handler.onComplete?.([])
    return true
  }

  override async destroy (): Promise<void> {}
}

t.test(`${attempts} attempts leave nothing in memory, and no listener`, async (t) => {
  const poster = openPoster({ allowCidrs: [] }, undefined, () => new Answers200())
  t.teardown(() => poster.close())
  const { signal } = new AbortController()
  const post = { url: 'https://receiver.example/', headers: {}, body: Buffer.from('{}'), timeoutMs: 60_000, signal }
  const send = async (count: number) => {
    for (let sent = 0; sent < count; sent += atOnce) {
      const results = await Promise.all(Array.from({ length: atOnce }, () => poster.post(post)))
      if (!results.every((result) => result.kind === 'answer' && result.status === 200)) t.fail(JSON.stringify(results))
    }
  }
  await send(attempts / 4)
  const before = memory()
  await send(attempts)
  const growth = (memory() - before) / attempts
  t.ok(growth < bytesPerAttempt, `${growth.toFixed(1)} bytes an attempt`)
})

function memory (): number {
  collect()
  return process.memoryUsage().heapUsed
}
