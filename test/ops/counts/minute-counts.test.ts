// What each process writes down of a minute, for the charts and rates of the pages for operators.
import t from 'tap'
import { commandDay, ratesByConsumer, recordMinutes } from '../../../src/ops/minute-counts.js'
import { scratchLedger } from '../../support/postgres/ledger.js'

const { pool } = await scratchLedger(t)
const warned: string[] = []
const log = { warn: (_details: object, message: string) => { warned.push(message) } }
const rows = async () => (await pool.query(
  'SELECT process, name, sum(count)::int AS count FROM ledger.minute_counts GROUP BY 1, 2 ORDER BY 1, 2')).rows

t.test('a process that ends has written what it counted, and nothing where it counted nothing', async (t) => {
  const first = recordMinutes(
    { pool, holder: 'a' }, () => new Map([['commands accepted', 3], ['commands failed', 0]]), log)
  const idle = recordMinutes({ pool, holder: 'b' }, () => new Map([['commands accepted', 0]]), log)
  await Promise.all([first(), idle()])
  t.strictSame(await rows(), [{ process: 'a', name: 'commands accepted', count: 3 }])
  const again = recordMinutes({ pool, holder: 'a' }, () => new Map([['commands accepted', 4]]), log)
  await again()
  t.strictSame(await rows(), [{ process: 'a', name: 'commands accepted', count: 7 }], 'of one minute it adds up')
})

t.test('a day has the commands of all processes by ten minutes, and forgets older ones', async (t) => {
  await pool.query(`
    DELETE FROM ledger.minute_counts;
    INSERT INTO ledger.minute_counts (minute, process, name, count) VALUES
      (date_bin('10 minutes', now() - interval '1 hour', '2000-01-01Z'), 'a', 'commands accepted', 5),
      (date_bin('10 minutes', now() - interval '1 hour', '2000-01-01Z') + interval '9 minutes', 'b', 'commands accepted', 2),
      (date_bin('10 minutes', now() - interval '1 hour', '2000-01-01Z') + interval '9 minutes', 'b', 'commands refused', 1),
      (now() - interval '26 hours', 'a', 'commands accepted', 9),
      (date_trunc('minute', now()) - interval '1 minute', 'a', 'events dispatcher', 120)`)
  t.match(await commandDay(pool), [{ accepted: 7, refused: 1, failed: 0 }])
  t.equal((await ratesByConsumer(pool)).get('dispatcher'), 2)
  const next = recordMinutes({ pool, holder: 'a' }, () => new Map([['commands accepted', 1]]), log)
  await next()
  const { rowCount } = await pool.query("SELECT FROM ledger.minute_counts WHERE minute < now() - interval '25 hours'")
  t.equal(rowCount, 0)
})
