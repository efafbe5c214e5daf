// Which SECRET_KEYs are needed: a lost one is told at the start, whatever the ledger knows or believes.
import t from 'tap'
import { refuseLostKeysAtStart, noteKeysOfLog } from '../../src/privacy/rewrap.js'
import { keyId } from '../../src/privacy/sealed-text.js'
import { tellNeededKeys } from '../../workers/operate/reseal.js'
import { first, second, secretKeyRig, third } from './secret-keys.js'

const { pool, streams, keysOf, made, openIn, resealTo, forgetLedger, visible } = await secretKeyRig(t)

t.test('a lost key refuses a start and a reseal, with an empty ledger too, and nothing is changed', async (t) => {
  const [key] = await made(second)
  const start = (current: Buffer, ...previous: Buffer[]) =>
    refuseLostKeysAtStart({ pool, streams, secretKeys: { current, previous } })
  for (const forget of [async () => {}, forgetLedger]) {
    await forget()
    await t.rejects(start(third, first), { name: 'PersonKeyUnreadable', message: /SECRET_KEY_PREVIOUS/ })
    await t.rejects(resealTo(third, [first]), { name: 'PersonKeyUnreadable', message: /SECRET_KEY_PREVIOUS/ })
    await start(third, second, first)
  }
  t.match(await visible(key?.person ?? ''), [{ data: { wrapped_by: keyId(second) } }])
})

t.test('a ledger that is older than the log is mended, not believed', async (t) => {
  const [key] = await made(second)
  const { rows: [row] } = await pool.query('SELECT * FROM ledger.person_keys WHERE key_id = $1', [key?.keyId])
  await resealTo(third, [second, first])
  await pool.query('UPDATE ledger.person_keys SET wrapped_by = $2, wrapped = $3 WHERE key_id = $1', [row.key_id, row.wrapped_by, row.wrapped])
  await refuseLostKeysAtStart({ pool, streams, secretKeys: { current: third, previous: [] } })
  t.strictSame(key && await openIn(keysOf(third), key), key?.key)
})

t.test('a start tells how many persons need a former key, though the ledger knows none of them', async (t) => {
  await made(first, 2)
  await forgetLedger()
  const told: Array<[object, string]> = []
  const info = (details: object, message: string) => { told.push([details, message]) }
  const log = { info, warn: (_details: object, message: string) => { t.fail(message) } }
  const { signal } = new AbortController()
  const tell = () => tellNeededKeys({ pool, streams, keys: { current: third, previous: [second, first] }, log, signal })
  await tell()
  t.match(told, [[{ place: 1, texts: 0, persons: 0 }, /not needed any more/], [{ place: 2, texts: 0, persons: 2 }, /still needed/]])
  await resealTo(third, [second, first])
  told.length = 0
  await tell()
  t.match(told, [[{ persons: 0 }, /not needed/], [{ place: 2, persons: 0 }, /not needed/]])
})

t.test('a key that is in the log twice is known as its newest, though the log tells of it in many batches', async (t) => {
  const keys = await made(first, 300)
  await resealTo(third, [second, first])
  await forgetLedger()
  await noteKeysOfLog({ pool, streams, signal: new AbortController().signal })
  const { rows } = await pool.query('SELECT DISTINCT wrapped_by FROM ledger.person_keys WHERE wrapped IS NOT NULL')
  t.strictSame(rows, [{ wrapped_by: keyId(third) }])
  t.equal(keys.length, 300)
})
