// How often keys are looked up: not for each request, and not for longer than a revocation may take.
import t from 'tap'
import { KnownKeys } from '../../../src/services/credentials/known-keys.js'
import { digestOf } from '../../../src/http/credentials.js'
import { eventually } from '../../support/eventually.js'

const text = (n: number) => `rl_${String(n).padStart(43, '0')}`
const row = (n: number, is_revoked = false) => ({
  api_key_id: n, user_id: '1', name: 'x', hash: digestOf(text(n)), scopes: ['read' as const], expires_at: null, is_revoked
})

/** Keys as a database has them, and every look at it. */
function database (isHeard: boolean) {
  const rows = [row(1), row(2)]
  const looks: string[][] = []
  const known = new KnownKeys({
    find: async (hashes) => {
      looks.push([...hashes])
      return rows.filter(({ hash }) => hashes.includes(hash))
    },
    heard: () => isHeard ? { since: -Infinity, until: performance.now() } : { since: Infinity, until: -Infinity }
  })
  return { rows, looks, known }
}

t.test('a known key costs no look-up while revocations are heard', async (t) => {
  const { looks, known } = database(true)
  t.match(await known.find(text(1)), { id: 1 })
  const begin = performance.now()
  await eventually(() => performance.now() - begin > 1_000)
  for (let n = 0; n < 100; n++) t.match(known.find(text(1)), { id: 1 }, 'at once')
  t.equal(looks.length, 1)
  known.revoke(1)
  t.equal(known.find(text(1)), 'key-revoked')
})

t.test('where nothing is heard it is looked up again, so that a revocation is seen', async (t) => {
  const { rows, looks, known } = database(false)
  await known.find(text(1))
  rows[0] = row(1, true)
  await eventually(async () => await known.find(text(1)) === 'key-revoked')
  t.ok(looks.length <= 3, 'and not for each request')
})

t.test('a revocation that is heard during a look-up counts', async (t) => {
  const { known } = database(true)
  const looking = known.find(text(1))
  known.revoke(1)
  t.equal(await looking, 'key-revoked')
})

t.test('unknown keys are looked up together', async (t) => {
  const { looks, known } = database(true)
  const found = await Promise.all(Array.from({ length: 1_200 }, async (_, n) => await known.find(text(n + 10))))
  t.ok(found.every((each) => each === 'key-unknown'))
  t.ok(looks.length <= 4, String(looks.length))
  t.equal(await known.find('rl_short'), 'key-unknown')
  t.ok(looks.length <= 4, 'what is no key is not looked up')
})
