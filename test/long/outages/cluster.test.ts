// The whole service on a cluster that goes away: what callers, probes and the log are told, and when it is over.
import { Writable } from 'node:stream'
import pino from 'pino'
import t, { type Test } from 'tap'
import type { Role } from '../../../src/services/services.js'
import { startRoles } from '../../../src/services/roles.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventStoreCluster } from '../../support/cluster/cluster.js'
import { eventually } from '../../support/eventually.js'
import { backAfter, saysAway, timed } from '../../support/proxied-service.js'
import { caller } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

const service = await testService(t, [])
const token = await service.token('1')

interface Line {
  level: number
  msg: string
  failed?: number
  err?: { type: string, message: string }
}

/** All roles on a cluster of their own, ready. */
async function clustered (t: Test, options: { login?: string } = {}) {
  const cluster = await eventStoreCluster(t, service.store, options)
  const lines: Line[] = []
  const log = pino({ level: 'info' }, new Writable({
    write (chunk, _encoding, done) {
      for (const line of String(chunk).trim().split('\n')) lines.push(JSON.parse(line))
      done()
    }
  }))
  const roles: Role[] = ['api', 'projector', 'worker']
  const urls = { databaseUrl: service.urls.databaseUrl, eventStoreUrl: cluster.url }
  const { url, stop } = await startRoles(roles, service.config, urls, log)
  t.teardown(stop)
  const send = caller(url)
  const call = (method: string, path: string, body?: object) => send(method, path, { token, body })
  const ready = async () => (await call('GET', '/health/ready')).status
  const create = () => call('POST', '/user/assistant', newAssistant())
  await backAfter(create, 201)
  await eventually(async () => await ready() === 200)
  const told = () => lines.filter(({ level, msg }) =>
    msg !== 'request' && (level > 30 || msg.includes('event store')))
  lines.length = 0
  return { cluster, members: cluster.members, call, create, ready, told }
}

const begins = 'The event store is not available.'
const ends = 'The event store is available again.'

const said = ({ msg, err }: Line) => [msg, err && `${err.type}: ${err.message}`].filter(Boolean).join(': ')

t.test('an outage of all members is told twice, commands and readiness say so, and all roles go on', async (t) => {
  const { cluster, create, ready, told } = await clustered(t)
  await cluster.stop()
  const beganAt = performance.now()
  await eventually(async () => await ready() === 503)
  t.ok(performance.now() - beganAt < 3_000, 'not ready within 3 s')
  await eventually(async () => (await create()).status === 503)
  for (let n = 0; n < 20; n++) await saysAway(t, [create(), create()], 5_000)
  await eventually(async () => performance.now() - beganAt > 6_000) // longer than any pause between tries
  await cluster.start()
  const ms = await backAfter(create, 201)
  t.ok(ms < 10_000, `back after ${ms} ms, read model included`)
  await eventually(async () => await ready() === 200)
  await eventually(async () => told().some(({ msg }) => msg === ends))
  t.strictSame(told().map(said), [begins, ends])
  t.ok((told()[1]?.failed ?? 0) > 20, 'with counts')
})

t.test('without a leader commands are 503 at once, and no outcome is unknown', async (t) => {
  const { cluster, create, ready, told } = await clustered(t)
  cluster.elect(undefined)
  for (let n = 0; n < 5; n++) await saysAway(t, [create(), create()], 2_000)
  await eventually(async () => await ready() === 503)
  cluster.elect(1)
  const ms = await backAfter(create, 201)
  t.ok(ms < 10_000, `back after ${ms} ms, read model included`)
  await eventually(async () => told().some(({ msg }) => msg === ends))
  t.strictSame(told().map(said), [begins, ends])
})

t.test('a leader that freezes is 503 within 5 s, and over within 10 s of an election', async (t) => {
  const { cluster, members, create, ready, told } = await clustered(t)
  await create()
  members[0].freeze()
  const beganAt = performance.now()
  const answers = [create(), create(), create()].map(timed)
  await eventually(async () => await ready() === 503)
  t.ok(performance.now() - beganAt < 3_500, `not ready after ${performance.now() - beganAt} ms`)
  for (const { status } of await Promise.all(answers)) t.ok([500, 503].includes(status), 'sent: unknown, or not taken')
  await saysAway(t, Array.from({ length: 5 }, create), 5_500)
  cluster.elect(1)
  const ms = await backAfter(create, 201)
  t.ok(ms < 10_000, `back after ${ms} ms, read model included`)
  await eventually(async () => told().some(({ msg }) => msg === ends))
  t.strictSame(told().map(said), [begins, ends])
})

t.test('a right to write that is lost is 503, not ready and one line, until it is back', async (t) => {
  const { members, create, ready, told } = await clustered(t)
  for (const member of members) member.denied.append = 'PERMISSION_DENIED'
  for (let n = 0; n < 5; n++) await saysAway(t, [create(), create()], 5_000)
  await eventually(async () => await ready() === 503)
  for (const member of members) delete member.denied.append
  await backAfter(create, 201)
  await eventually(async () => await ready() === 200)
  await eventually(async () => told().some(({ msg }) => msg === ends))
  t.strictSame(told().map(said), ['The event store refuses access.', ends])
})

t.test('so is a login that is no longer let in', async (t) => {
  const { members, create, ready, told } = await clustered(t)
  for (const member of members) {
    Object.assign(member.denied, { read: 'UNAUTHENTICATED', append: 'UNAUTHENTICATED', subscribe: 'UNAUTHENTICATED' })
    member.reset()
  }
  await eventually(async () => (await create()).status === 503)
  await eventually(async () => await ready() === 503)
  for (const member of members) for (const kind of ['read', 'append', 'subscribe'] as const) delete member.denied[kind]
  await backAfter(create, 201)
  await eventually(async () => await ready() === 200)
  await eventually(async () => told().some(({ msg }) => msg === ends))
  t.equal(told().filter(({ msg }) => msg === 'The event store refuses access.').length, 1)
})
