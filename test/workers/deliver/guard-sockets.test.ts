// Nothing connects to a blocked address: a trap listens there, and a stub resolves names to it.
import { once } from 'node:events'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { resolveName } from '../../../workers/deliver/guard.js'
import { openPoster, type Poster } from '../../../workers/deliver/post.js'
import type { Result } from '../../../src/features/webhooks/outcome.js'
import { dnsStub, type DnsAnswer, type DnsStub, type Question } from './servers.js'
import { privateHosts, zoned } from '../../support/receivers/private-hosts.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

const never = new AbortController().signal

/** Listens on every address of this machine and counts connections. */
async function trap (t: Test): Promise<{ port: number, visitors: () => number }> {
  let visitors = 0
  const server = createServer((socket) => {
    visitors += 1
    socket.destroy()
  })
  // A machine without IPv6 listens on IPv4 alone.
  server.listen(0, '::').once('error', () => server.listen(0, '0.0.0.0'))
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { port: address.port, visitors: () => visitors }
}

function poster (t: Test, allowCidrs: string[] = [], dns?: DnsStub): Poster {
  const opened = openPoster({ allowCidrs }, dns && ((hostname) => resolveName(hostname, [dns.server])))
  t.teardown(() => opened.close())
  return opened
}

const send = (by: Poster, url: string, timeoutMs = 5_000): Promise<Result> =>
  by.post({ url, headers: {}, body: Buffer.from('{}'), timeoutMs, signal: never })

t.test('an address in any spelling, with a user name, a path or over https', async (t) => {
  const { port, visitors } = await trap(t)
  const by = poster(t)
  for (const host of privateHosts) {
    for (const url of [`http://${host}:${port}/`, `https://${host}:${port}/`]) {
      t.match(await send(by, url), { kind: 'failure', stage: 'blocked' }, url)
    }
  }
  const users = [
    'user@127.0.0.1', 'user:pw@127.1', 'example.com@127.0.0.1', 'example.com:443@[::1]', '127.0.0.1%40@127.0.0.1',
    'localhost', 'LocalHost.', 'ⓛocalhost', 'a.b.localhost'
  ]
  for (const host of users) t.match(await send(by, `http://${host}:${port}/`), { kind: 'failure' }, host)
  for (const rest of ['\\@example.com/', '#@example.com/', '?@example.com/']) {
    const url = `http://127.0.0.1:${port}${rest}`
    t.match(await send(by, url), { kind: 'failure', stage: 'blocked' }, url)
  }
  for (const host of zoned) t.match(await send(by, `http://${host}:${port}/`), { kind: 'failure' }, host)
  t.equal(visitors(), 0)
})

t.test('a name that resolves to private addresses, alone or among each other, in either family', async (t) => {
  const { port, visitors } = await trap(t)
  const names: Record<string, { A: DnsAnswer, AAAA: DnsAnswer }> = {
    'v4.example': { A: ['127.0.0.1'], AAAA: [] },
    'v6.example': { A: [], AAAA: ['::1'] },
    'both.example': { A: ['127.0.0.1', '10.0.0.1'], AAAA: ['::1', 'fd00::1'] },
    'mapped.example': { A: [], AAAA: ['::ffff:7f00:1', '::7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::'] },
    'metadata.example': { A: ['169.254.169.254'], AAAA: ['fd00:ec2::254'] },
    'zero.example': { A: ['0.0.0.0'], AAAA: ['::'] }
  }
  const dns = await dnsStub(t, ({ name, type }) => names[name]?.[type] ?? 'NXDOMAIN')
  const by = poster(t, [], dns)
  for (const name of Object.keys(names)) {
    const result = await send(by, `http://${name}:${port}/`)
    t.match(result, { kind: 'failure', stage: 'blocked' }, name)
    t.notMatch(JSON.stringify(result), /127|10\.0|169|::|0\.0/, 'and users do not learn where it led')
  }
  t.match(await send(by, `http://nobody.example:${port}/`), { kind: 'failure', stage: 'dns' })
  t.equal(visitors(), 0)
})

t.test('a mixed answer: only the allowed address is tried, and after a failure no other', async (t) => {
  const hook = await receiver(t)
  const other = await receiver(t, answers(200), '127.0.0.2')
  const dns = await dnsStub(t, ({ type }) => type === 'A' ? ['127.0.0.2', '127.0.0.1', '127.0.0.3'] : ['::1'])
  const by = poster(t, ['127.0.0.1/32'], dns)
  t.match(await send(by, `http://mixed.example:${new URL(hook.url).port}/`), { kind: 'answer', status: 200 })
  t.match(await send(by, `http://mixed.example:${new URL(other.url).port}/`), { kind: 'failure', stage: 'connect' })
  t.equal(other.connections(), 0)
})

t.test('rebinding: a name is resolved once, and only the checked address is connected', async (t) => {
  const hook = await receiver(t, answers(200, { connection: 'close' }))
  const port = new URL(hook.url).port
  const rebinding = ({ type }: Question, count: number): DnsAnswer =>
    type === 'AAAA' ? [] : count === 1 ? ['127.0.0.1'] : ['127.0.0.2']
  const dns = await dnsStub(t, rebinding)
  const by = poster(t, ['127.0.0.1/32'], dns)
  t.match(await send(by, `http://rebinding.example:${port}/`), { kind: 'answer', status: 200 })
  t.same(dns.asked.map(({ type }) => type).sort(), ['A', 'AAAA'], 'each kind once')
  const again = await send(by, `http://rebinding.example:${port}/`)
  t.match(again, { kind: 'failure', stage: 'blocked' }, 'the next connection is checked anew')
  t.equal(hook.received.length, 1)
})

t.test('a redirect, wherever it leads', async (t) => {
  const { port, visitors } = await trap(t)
  const location = `http://127.0.0.1:${port}/`
  for (const status of [302, 307]) {
    const hook = await receiver(t, answers(status, { location, refresh: `0; url=${location}` }))
    t.match(await send(poster(t, ['127.0.0.0/8']), hook.url), { kind: 'answer', status })
  }
  t.equal(visitors(), 0)
})
