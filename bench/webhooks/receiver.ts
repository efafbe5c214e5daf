// A process that takes webhooks and answers 200. `GET /arrivals` answers how fast they came, `DELETE` starts over.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { perSecond } from './rate.js'

const arrivals: number[] = []
let bytes = 0

const server = createServer((request, response) => {
  if (request.url === '/arrivals') {
    if (request.method === 'DELETE') arrivals.length = bytes = 0
    return void response.end(JSON.stringify({ count: arrivals.length, bytes, perSecond: perSecond(arrivals) }))
  }
  request.on('data', (chunk: Buffer) => { bytes += chunk.length })
  request.on('end', () => {
    arrivals.push(performance.now())
    response.end('ok')
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port')
process.stdin.on('close', () => process.exit(0)).resume()
process.stdout.write(`LISTENING ${address.port}\n`)
