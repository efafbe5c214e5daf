// Connections are kept for the next webhook of their receiver, as long as they are not too many.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { Agent, buildConnector, request, type Dispatcher } from 'undici'
import { hurriedMs, keptMs, openConnections } from '../../../workers/deliver/connections.js'
import { eventually } from '../../support/eventually.js'
import { rawServer } from './servers.js'
import { cert, key } from '../../support/receivers/hook-certificate.js'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

t.test('a connection is kept for a minute, and for seconds only while too many are open', async (t) => {
  const { url, connections } = await rawServer(t, (socket) => { socket.on('data', () => socket.write(ok)) })
  const keeps = new Map<Dispatcher, number>()
  const agents = openConnections(buildConnector({}), (connect, keepAliveTimeout) => {
    const agent = new Agent({ connect, keepAliveTimeout })
    keeps.set(agent, keepAliveTimeout)
    return agent
  }, 2)
  t.teardown(() => agents.close())
  const send = async () => {
    const dispatcher = agents.next()
    const { body } = await request(url, { dispatcher })
    await body.dump()
    await turn() // then its connection is free for the next one
    return keeps.get(dispatcher)
  }
  t.equal(await send(), keptMs)
  t.equal(await send(), keptMs)
  t.equal(connections(), 1, 'the second request came on the connection of the first')
  t.strictSame(await Promise.all([send(), send()]), [keptMs, keptMs])
  t.equal(connections(), 2)
  t.equal(await send(), hurriedMs, 'two are open')
  await Promise.all([...keeps].map(async ([agent, ms]) => { if (ms === keptMs) await agent.close() }))
  await eventually(() => keeps.get(agents.next()) === keptMs)
})

t.test('a receiver whose connection is gone is reached anew with the session of the last one', async (t) => {
  const resumed: boolean[] = []
  const server = createServer({ key, cert }, (_request, response) => {
    response.writeHead(204, { connection: 'close' }).end()
  }).on('secureConnection', (socket) => { resumed.push(socket.isSessionReused()) }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const trusted = join(t.testdir(), 'cert.pem')
  writeFileSync(trusted, cert)
  const main = fileURLToPath(new URL('./https-main.js', import.meta.url))
  const urls = Array.from({ length: 3 }, () => `https://hook.example:${port}/hook`)
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: trusted }
  await promisify(execFile)(process.execPath, ['--expose-gc', main, ...urls], { env })
  t.strictSame(resumed, [false, true, true])
})
