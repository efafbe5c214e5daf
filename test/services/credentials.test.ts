// How often keys and revoked tokens are looked up: not for each request, and not for longer than a revocation may take.
import t from 'tap'
import { keys as projection, noteRevoked } from '../../projections/keys.js'
import { NotKnownYet } from '../../projections/engine/positions.js'
import { digestOf } from '../../src/http/credentials.js'
import { openCredentials } from '../../src/services/credentials.js'
import { eventually } from '../support/eventually.js'
import { emptyReadModels } from '../support/projections/projected.js'
import { keepingLog, scratchLedger } from '../support/postgres/ledger.js'
import { watchedPool } from '../support/postgres/statements.js'

const { pool } = await scratchLedger(t)
await emptyReadModels(pool, [projection])
const text = (n: number) => `rl_${String(n).padStart(43, '0')}`
const make = (n: number) => pool.query(
  "INSERT INTO read_keys_g1.api_keys VALUES ($1, '1', 'x', $2, 'rl_', '[\"read\"]', NULL, now(), false, 0)",
  [n, digestOf(text(n))])
await Promise.all([1, 2, 3].map(make))

/** The credentials of a process, with every statement that it sends to Postgres, and a way to take that away. */
function opened () {
  let isAway = false
  const looks: string[] = []
  const watched = watchedPool(pool, {
    before (statement) {
      looks.push(statement)
      if (isAway) throw new Error('Postgres is away')
    }
  })
  const [streams, positions] = [{ last: async () => undefined }, { passed: async () => 1n }]
  const credentials = openCredentials({ pool: watched, streams, positions, log: keepingLog() })
  return { ...credentials, looks, setAway: (away: boolean) => { isAway = away } }
}

t.test('while Postgres is away keys are not known, and tokens are judged by what was known', async (t) => {
  const { findKey, isTokenRevoked, setAway } = opened()
  await noteRevoked(pool, { token: digestOf('ended') })
  t.match(await findKey(text(2)), { id: 2 })
  t.equal(await isTokenRevoked('ended'), true)
  setAway(true)
  t.match(await findKey(text(2)), { id: 2 }, 'for a moment')
  await eventually(() => findKey(text(2)).then(() => false, (error: unknown) => error instanceof NotKnownYet))
  t.strictSame([await isTokenRevoked('ended'), await isTokenRevoked('other')], [true, false])
  setAway(false)
  t.match(await findKey(text(2)), { id: 2 })
  const unaware = opened()
  unaware.setAway(true)
  t.equal(await unaware.isTokenRevoked('ended'), false, 'it asks the log, which has no such stream here')
})
