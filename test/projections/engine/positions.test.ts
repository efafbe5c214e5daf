// Waiting until readers can see a position: a notification says so, or a look-up finds it.
import t from 'tap'
import { listenForPositions } from '../../../projections/engine/positions/positions.js'
import { assistantCreated, logOf } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { positionRig } from '../../support/projections/position-rig.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { deaf, notificationsOf } from '../../support/postgres/notifications.js'

const rig = await positionRig(t)
const { databaseUrl, pool, listening, deafPool, projectOne, feed, isListening, isGone, cutListener } = rig

t.test('a position that was passed is reached at once, one in the future is not', async (t) => {
  const positions = await listening(t)
  const position = await projectOne()
  t.equal(await positions.reached('assistants', position, 5_000), true)
  t.equal(await positions.reached('assistants', position - 1n, 0), true)
  t.equal(await positions.reached('assistants', position + 1n, 50), false)
})

t.test('the notification of a batch ends the waiting for its position', async (t) => {
  const positions = await listening(t, deafPool(t))
  const waiting = Promise.all([1, 2, 3].map(() => positions.reached('assistants', 100n, 10_000)))
  t.equal(await projectOne(), 100n)
  t.strictSame(await waiting, [true, true, true])
})

t.test('a batch that is rolled back notifies nobody', async (t) => {
  const positions = await listening(t, deafPool(t))
  const other = await feed(2n) // fences the feed off
  await t.rejects(projectOne(), { name: 'Fenced' })
  t.equal(await positions.reached('assistants', 100n, 200), false)
  await other.batch(logOf()([assistantCreated(99)]))
  t.equal(await positions.reached('assistants', 100n, 10_000), true)
})

t.test('while the listener has no connection, a look-up finds what was projected', async (t) => {
  const positions = await listening(t)
  const waiting = positions.reached('assistants', 100n, 10_000)
  await cutListener()
  const began = Date.now()
  await projectOne()
  t.equal(await waiting, true)
  t.ok(Date.now() - began < 1_000)
})

t.test('a lost connection is made again', async (t) => {
  const positions = await listening(t, deafPool(t))
  await cutListener()
  await isGone()
  await isListening()
  const waiting = positions.reached('assistants', 100n, 10_000)
  await projectOne()
  t.equal(await waiting, true)
})

t.test('a connection that died silently is noticed, and made again', async (t) => {
  await isGone()
  const proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
  const through = Object.assign(new URL(databaseUrl), { port: String(proxy.port) }).href
  const errors: string[] = []
  const onError = ({ message }: Error) => { if (!message.includes('ECONNREFUSED')) errors.push(message) }
  const quick = { onError, heartbeatMs: 100, answerWithinMs: 100 }
  const positions = listenForPositions(notificationsOf(t, through, quick), deafPool(t), () => {})
  t.teardown(() => positions.close())
  void positions.passed('assistants').catch(() => {}) // from the first question on
  await isListening()
  proxy.freeze()
  await eventually(() => errors.length > 0)
  t.strictSame(errors, ['Query read timeout'])
  proxy.cut()
  await eventually(async () => { // a slow answer to a heartbeat may cost another connection
    await isListening()
    const waiting = positions.reached('assistants', 100n, 1_000)
    await projectOne()
    return await waiting
  })
})

t.test('a notification of another kind changes nothing', async (t) => {
  const positions = await listening(t, deafPool(t))
  for (const payload of ['', 'assistants', 'assistants x', 'assistants -1', 'assistants 99999999 1']) {
    await pool.query('SELECT pg_notify($1, $2)', ['ringledger_checkpoint', payload])
  }
  t.equal(await positions.reached('assistants', 1n, 100), false)
  await projectOne()
  t.equal(await positions.reached('assistants', 100n, 10_000), true)
})

t.test('a projection is looked up once in 100 ms, and every call is answered, at once or in time', async (t) => {
  let looks = 0
  const counting = new Proxy(pool, {
    get (target, name) {
      if (name === 'query') looks++
      return Reflect.get(target, name)
    }
  })
  const positions = listenForPositions(deaf(t), counting, () => {})
  t.teardown(() => positions.close())
  const began = performance.now()
  const early = Array.from({ length: 3_000 }, (_, n) => positions.reached('assistants', 100n - BigInt(n % 50), 20_000))
  const late = Array.from({ length: 3_000 }, async (_, n) => {
    const isReached = await positions.reached(n % 2 ? 'assistants' : 'leads', 101n + BigInt(n), 500 + n % 100)
    return { isReached, after: performance.now() - began }
  })
  await projectOne()
  t.strictSame(new Set(await Promise.all(early)), new Set([true]), 'those whose position has come have their answer')
  t.ok(performance.now() - began < 10_000, 'at a look-up, long before their time is over')
  const told = await Promise.all(late)
  t.notOk(told.some(({ isReached }) => isReached))
  const [first, last] = [Math.min(...told.map(({ after }) => after)), Math.max(...told.map(({ after }) => after))]
  t.ok(first >= 500 && last < 10_000, `the others after ${Math.round(first)} to ${Math.round(last)} ms`)
  t.ok(looks <= 2 * (last / 100 + 1), `${looks} look-ups`)
  const before = looks
  await pool.query('SELECT pg_sleep(0.25)')
  t.equal(looks, before, 'without a call there is no look-up')
})

t.test('look-ups that fail in a row are reported once', async (t) => {
  const errors: Error[] = []
  const positions = listenForPositions(notificationsOf(t, databaseUrl), deafPool(t), (error) => { errors.push(error) })
  t.teardown(() => positions.close())
  t.equal(await positions.reached('assistants', 1n, 400), false)
  t.equal(errors.length, 1)
})

t.test('positions are those that readers see, of each projection by itself', async (t) => {
  const positions = await listening(t, deafPool(t))
  await projectOne()
  t.equal(await positions.reached('assistants', 100n, 10_000), true)
  t.equal(await positions.reached('leads', 100n, 100), false)
})

t.test('read models that are replaced begin anew, also for who remembers a later position', async (t) => {
  const positions = await listening(t)
  const position = await projectOne()
  t.equal(await positions.reached('assistants', position, 10_000), true)
  await pool.query('UPDATE read_assistants_g1.checkpoint SET position = 1')
  t.equal(await positions.reached('assistants', position, 50), true, 'it is remembered')
  await pool.query("SELECT pg_notify('ringledger_checkpoint', 'replaced')")
  await eventually(async () => await positions.passed('assistants') === 1n)
  t.equal(await positions.reached('assistants', position, 50), false)
})
