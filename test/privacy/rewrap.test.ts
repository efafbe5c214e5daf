// Leaving a former SECRET_KEY behind in the log: each key of a person is encrypted anew, whatever comes between.
import t from 'tap'
import type { Streams } from '../../src/log/event-log.js'
import { keyId } from '../../src/privacy/sealed-text.js'
import { first, second, secretKeyRig, third } from './secret-keys.js'

const { pool, streams, keysOf, made, stored, openIn, resealTo, forgetLedger, visible } = await secretKeyRig(t)

t.test('the current SECRET_KEY alone opens every person afterwards, and what the former one encrypted is gone', async (t) => {
  const keys = [...await made(first, 3), ...await made(second, 2), ...await made(third)]
  await pool.query('DELETE FROM ledger.person_keys WHERE person = $1', [keys[0]?.person])
  const shares: number[] = []
  const count = await resealTo(third, [second, first], { batchSize: 2, onProgress: (_, share) => shares.push(share) })
  t.strictSame([count, shares.at(-1)], [5, 1])
  for (const forget of [async () => {}, forgetLedger]) {
    await forget()
    for (const key of keys) t.strictSame(await openIn(keysOf(third), key), key.key)
  }
  for (const { person, keyId: id } of keys) {
    t.match(await visible(person), [{ type: 'PersonKeyCreated', data: { key_id: id, wrapped_by: keyId(third) } }])
    t.equal((await visible(person)).length, 1)
  }
  for (const { person } of keys.slice(0, 4)) t.notMatch(await stored(person), new RegExp(`${keyId(first)}|${keyId(second)}`))
  t.equal(await resealTo(third, [second, first]), 0, 'and again there is nothing to do')
})

/** Something happens around one call of a kind. */
type Call = 'last' | 'read' | 'append' | 'truncate'
function around (call: Call, when: 'before' | 'after', happens: () => Promise<void>): Streams {
  let isOver = false
  const once = async () => {
    if (!isOver) {
      isOver = true
      await happens()
    }
  }
  return {
    ...streams,
    async [call] (...given: never[]) {
      if (when === 'before') await once()
      const answer = await Reflect.apply(streams[call], streams, given)
      if (when === 'after') await once()
      return answer
    }
  }
}
/** What comes after one call comes before the next one. */
const moments = [
  { call: 'last', when: 'before' },
  ...(['last', 'read', 'append', 'truncate'] as const).map((call) => ({ call, when: 'after' }) as const)
] as const

for (const { call, when } of moments) {
  t.test(`a person who is erased ${when} the ${call} stays erased, and nothing of the key is left`, async (t) => {
    const [key] = await made(first)
    const { person = '' } = key ?? {}
    const erase = async () => { await keysOf(third, first).erase('user', person.slice('user-'.length)) }
    await resealTo(third, [first], { streams: around(call, when, erase) })
    t.strictSame(await visible(person), [])
    t.equal(key && await openIn(keysOf(third, first), key), undefined)
    await forgetLedger()
    t.equal(key && await openIn(keysOf(third, first), key), undefined)
    t.notMatch(await stored(person), 'wrapped')
    const [anew] = (await keysOf(third).toSealFor([person])).values()
    t.strictSame(anew && await openIn(keysOf(third), anew), anew?.key, 'and a new key is whole')
  })

  t.test(`a process that ends ${when} the ${call} leaves what the next one ends`, async (t) => {
    const [key] = await made(first)
    const die = async () => { throw new Error('the process ends here') }
    await t.rejects(resealTo(third, [first], { streams: around(call, when, die) }), /ends here/)
    t.strictSame(key && await openIn(keysOf(third, first), key), key?.key, 'it can be opened meanwhile')
    await resealTo(third, [first])
    t.equal((await visible(key?.person ?? '')).length, 1)
    t.strictSame(key && await openIn(keysOf(third), key), key?.key)
  })
}

t.test('two that reseal at once append each key once', async (t) => {
  const keys = await made(first, 40)
  await Promise.all([resealTo(third, [first]), resealTo(third, [first])])
  for (const { person } of keys) t.match(await visible(person), [{ revision: 1n }])
})
