// A process that does nothing but POST: the limit of the HTTP client and the receiver. URL, count, bytes and concurrency in.
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'

const [url = '', count, bytes, concurrency] = parseArgs({ allowPositionals: true }).positionals
const dispatcher = new Agent({ allowH2: false })
const body = Buffer.alloc(Number(bytes), 'x')
let left = Number(count)

await Promise.all(Array.from({ length: Number(concurrency) }, async () => {
  while (left-- > 0) {
    const answer = await request(url, { dispatcher, method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await answer.body.dump()
  }
}))
await dispatcher.close()
