// Every consumer of a process opens the same events at about the same time: their keys are looked up once for all.
import t from 'tap'
import { EventLog } from '../../src/log/event-log.js'
import { PersonKeys } from '../../src/privacy/person-keys.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'

const { connection } = await scratchEventStore(t, {})
const { pool } = await scratchLedger(t)
const streams = new EventLog(connection)

function openKeys (ledger = pool) {
  const secretKeys = { current: Buffer.alloc(32, 'secret'), previous: [] }
  return new PersonKeys({ pool: ledger, streams, secretKeys, digest: (text) => text })
}

t.test('those who ask at once share a statement, and each gets the keys that it asked for', async (t) => {
  const made = await openKeys().toSealFor(['user-1', 'user-2'])
  await eventually(async () => (await pool.query('SELECT FROM ledger.person_keys')).rowCount === 2)
  let asked = 0
  const counting = new Proxy(pool, {
    get (target, name) {
      if (name === 'query') asked += 1
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
  const keys = openKeys(counting)
  const [one, two] = ['user-1', 'user-2'].map((person) => ({ person, keyId: made.get(person)?.keyId ?? '' }))
  if (!one || !two) throw new Error('there is no key')
  const wanted = [[one], [one], [two, one], [two]]
  const found = await Promise.all(wanted.map((names) => keys.toOpen(names)))
  const ids = (of: Iterable<string>) => [...of].sort()
  t.same(found.map((each) => ids(each.keys())), wanted.map((names) => ids(names.map(({ keyId }) => keyId))))
  t.equal(asked, 1)
})
