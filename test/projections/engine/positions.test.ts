// Waiting until readers can see a position: a notification says so, or a look-up finds it.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { eventually } from '../../support/eventually.js'
import { positionRig, positionsOf } from '../../support/projections/position-rig.js'
import { emptyReadModels } from '../../support/projections/projected.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { deaf, notificationsOf } from '../../support/postgres/ledger.js'

const rig = await positionRig(t)
const { databaseUrl, pool, listening, deafPool, projectOne, isListening, isGone } = rig

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

t.test('a connection that died silently is noticed, and made again', async (t) => {
  await isGone()
  const proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
  const through = Object.assign(new URL(databaseUrl), { port: String(proxy.port) }).href
  const errors: string[] = []
  const onError = ({ message }: Error) => { if (!message.includes('ECONNREFUSED')) errors.push(message) }
  const quick = { onError, heartbeatMs: 100, answerWithinMs: 100 }
  const positions = positionsOf(t, notificationsOf(t, through, quick), deafPool(t))
  void positions.passed('assistants').catch(() => {}) // from the first question on
  await isListening()
  proxy.freeze()
  await eventually(() => errors.length > 0)
  t.strictSame([...new Set(errors)], ['Query read timeout'])
  proxy.cut()
  await eventually(async () => { // a slow answer to a heartbeat may cost another connection
    await isListening()
    const waiting = positions.reached('assistants', 100n, 1_000)
    await projectOne()
    return await waiting
  })
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

t.test('while the log has gone back, nobody waits for a position', async (t) => {
  const problems: Error[] = []
  const positions = positionsOf(t, deaf(t), pool, { otherLog: () => problems[0] })
  t.equal(await positions.reached('assistants', 100n, 0), false)
  problems.push(new Error('another log'))
  await t.rejects(positions.reached('assistants', 0n, 0), { message: 'another log' })
})

t.test('ids wait for what raises them to pass the log as it was first found, and then no more', async (t) => {
  let end = 100n
  const positions = positionsOf(t, deaf(t), pool, { head: async () => end, raising: ['assistants'] })
  t.equal(await positions.isCaughtUp(0), false)
  await t.rejects(positions.assertCaughtUp(), { message: /position 100, where the log ended/ })
  end = 10_000n
  t.equal(await projectOne(), 100n)
  t.equal(await positions.isCaughtUp(5_000), true)
  const hasty = positionsOf(t, deaf(t), pool, { head: async () => 100n, raising: ['assistants'], waitMs: 0 })
  t.equal(await hasty.isCaughtUp(), true, 'the first look is waited for')
  await emptyReadModels(pool, [assistants])
  t.equal(await positions.isCaughtUp(0), true)
})
