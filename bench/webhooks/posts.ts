// The limit of HTTP client and receiver: a process that does nothing but POST. In: URL, count, bytes, concurrency.
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'

const [url = '', count, bytes, concurrency] = parseArgs({ allowPositionals: true }).positionals
const dispatcher = new Agent({ allowH2: false })
const body = Buffer.alloc(Number(bytes), 'x')
const headers = { 'content-type': 'application/json' }
let left = Number(count)

await Promise.all(Array.from({ length: Number(concurrency) }, async () => {
  while (left-- > 0) {
    const answer = await request(url, { dispatcher, method: 'POST', headers, body })
    await answer.body.dump()
  }
}))
await dispatcher.close()
