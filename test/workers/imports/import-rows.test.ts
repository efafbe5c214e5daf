// Rows of an import are done side by side, in bounded numbers, those of one contact in their order.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { withinBytes, type SentRow } from '../../../workers/imports/rows.js'
import { importRows } from '../../../workers/imports/lead-imports.js'

const never = new AbortController().signal
const rowOf = (phone_number: string, index: number): SentRow =>
  ({ row: index + 1, body: { phone_number, campaign_id: 1 } })
const distinct = Array.from({ length: 100 }, (_, n) => rowOf(`+1555${String(n).padStart(7, '0')}`, n))

t.test('no more than 24 rows are under way at once, and each is done once', async (t) => {
  let underWay = 0
  let most = 0
  const done = await importRows(distinct, async ({ row }) => {
    most = Math.max(most, ++underWay)
    await nextTurn()
    underWay--
    return row
  }, never)
  t.equal(most, 24)
  t.same(done, distinct.map(({ row }) => row), 'what came of them is in their order')
})

t.test('a row begins when the row of its contact before it has ended, whatever is between them', async (t) => {
  const rows = Array.from({ length: 90 }, (_, n) => rowOf(n % 3 === 0 ? '+15550000000' : `+1555${1_000_000 + n}`, n))
  const begun: number[] = []
  let isUnderWay = false
  await importRows(rows, async ({ row, body }) => {
    if (body.phone_number !== '+15550000000') return
    t.notOk(isUnderWay, `row ${row} is alone`)
    isUnderWay = true
    begun.push(row)
    await nextTurn()
    isUnderWay = false
  }, never)
  t.same(begun, rows.filter((_, n) => n % 3 === 0).map(({ row }) => row))
})

t.test('when a row throws, no further ones are begun, and those that were begun end first', async (t) => {
  let ended = 0
  await t.rejects(importRows(distinct, async ({ row }) => {
    if (row === 1) throw new Error('the store is away')
    await nextTurn()
    ended++
  }, never), { message: 'the store is away' })
  t.equal(ended, 23)
})

t.test('errors beyond the bytes of an import are counted, not kept', async (t) => {
  const invalid = { outcome: 'invalid' as const, errors: { phone_number: ['is wrong'] } }
  const { outcomes, bytes } = withinBytes([invalid, { outcome: 'duplicate' }, invalid, invalid], 40, 110)
  t.strictSame(outcomes, [invalid, { outcome: 'duplicate' }, invalid, { outcome: 'invalid', errors: null }])
  t.equal(bytes, 40 + 2 * JSON.stringify(invalid.errors).length)
})
