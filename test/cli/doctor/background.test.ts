// `ringledger doctor` counts what workers try again and again in the background.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { checkService } from '../../../src/cli/doctor/service.js'
import { scratchLedger } from '../../support/postgres/ledger.js'

const { pool, databaseUrl } = await scratchLedger(t)
const found = async () =>
  (await checkService({ databaseUrl })).find(({ check }) => check === 'background')

/** A turn that is under way has counted itself already. */
const request = (kind: string, failures: number) => pool.query(`
  INSERT INTO ledger.background_requests (id, kind, user_id, state, input, progress, failures)
  VALUES ($1, $2, '1', 'accepted', '{}', '{}', $3)`, [randomUUID(), kind, failures])

t.test('a request that had a turn or is at its first try is not among them', async (t) => {
  t.match(await found(), { level: 'ok', found: 'no request fails' })
  for (const failures of [0, 1]) await request('lead-import', failures)
  t.match(await found(), { level: 'ok' })
})

t.test('those that fail are told by their kind, with what mends them', async (t) => {
  await request('lead-import', 2)
  await request('person-erasure', 11)
  t.match(await found(), {
    level: 'warning',
    found: 'requests that fail again and again: 1 of lead-import, 1 of person-erasure',
    mend: /RingledgerBackgroundFails/
  })
})
