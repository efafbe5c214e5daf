// A process that takes webhooks and answers 200. `GET /arrivals` answers how many came.
import { createServer } from 'node:http'
import { once } from 'node:events'

let count = 0

const server = createServer((request, response) => {
  if (request.url === '/arrivals') return void response.end(JSON.stringify({ count }))
  request.resume().on('end', () => {
    count++
    response.end('ok')
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port')
process.stdin.on('close', () => process.exit(0)).resume()
process.stdout.write(`LISTENING ${address.port}\n`)
