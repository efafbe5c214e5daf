// Posts to each URL on this machine and prints the results. A process of its own, as trust is read at its start.
import { openPoster } from '../../../workers/deliver/post.js'

const poster = openPoster({ allowCidrs: ['127.0.0.0/8'] }, async () => ['127.0.0.1'])
for (const url of process.argv.slice(2)) {
  const result = await poster.post({
    url, headers: {}, body: Buffer.from('{}'), timeoutMs: 10_000, signal: new AbortController().signal
  })
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
await poster.close()
