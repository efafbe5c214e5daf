// How new what is read is, where no notification says it.
import t from 'tap'
import { listenForPositions } from '../../projections/engine/positions/positions.js'
import { readPositions } from '../../src/services/api/read-positions.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { watchedPool } from '../support/postgres/statements.js'
import { notificationsOf } from '../support/postgres/notifications.js'

const { databaseUrl, pool } = await scratchLedger(t)

t.test('however many wait for deliveries, the checkpoint of the dispatcher is looked up once in 50 ms', async (t) => {
  let looks = 0
  const dispatch = (to: number) => pool.query('UPDATE ledger.dispatcher_checkpoint SET position = $1', [to])
  const watched = watchedPool(pool, { before: () => { looks++ } })
  const polled = { deliveries: 'ledger.dispatcher_checkpoint' }
  const positions = listenForPositions(notificationsOf(t, databaseUrl), watched, t.fail, { polled })
  t.teardown(() => positions.close())
  const { reached, passed } = readPositions({ positions, waitMs: 1_000 })
  await dispatch(5)
  const began = performance.now()
  const early = Array.from({ length: 2_000 }, (_, n) => reached('deliveries', BigInt(n % 10), 10_000))
  const late = Array.from({ length: 2_000 }, () => reached('deliveries', 100n, 300))
  await dispatch(10)
  t.strictSame(new Set(await Promise.all(early)), new Set([true]))
  t.strictSame(new Set(await Promise.all(late)), new Set([false]))
  t.equal(await passed('deliveries'), 10n)
  const ms = performance.now() - began
  t.ok(looks <= ms / 50 + 2, `${looks} looks in ${Math.round(ms)} ms`)
})
