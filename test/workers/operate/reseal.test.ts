// Changing SECRET_KEY: what former keys encrypted stays readable, and is left behind by `secrets reseal`.
import t from 'tap'
import { randomBytes, randomUUID } from 'node:crypto'
import { Idempotency } from '../../../src/commands/idempotency.js'
import { keyBytes } from '../../../src/services/complete-config.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { EventLog } from '../../../src/log/event-log.js'
import { PersonKeys } from '../../../src/privacy/person-keys.js'
import { preparePersonRequest } from '../../../workers/persons/erasure-rows.js'
import { userSecrets } from '../../../workers/deliver/secrets.js'
import { unseal, type SecretKeys } from '../../../src/privacy/sealed-text.js'
import { changeOptions, findOptions } from '../../../workers/deliveries/options.js'
import { refuseLostKeys, reseal, tellNeededKeys } from '../../../workers/operate/reseal.js'
import { secrets as settings } from '../../support/auth/secrets.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { dataDir, runWarm } from '../../support/ringledger.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

const { pool, databaseUrl, postgres } = await scratchLedger(t)
const { store, connection } = await scratchEventStore(t, { postgres })
const streams = new EventLog(connection)
const [first, second, third] = [0, 1, 2].map(() => randomBytes(32).toString('base64')) as [string, string, string]
const keysOf = (current: string, ...previous: string[]): SecretKeys =>
  ({ current: keyBytes(current), previous: previous.map(keyBytes) })

/** The place of each former key that a start names, and its number of texts. */
async function needed (keys: SecretKeys) {
  const told: object[] = []
  const warn = (_details: object, message: string) => { t.fail(message) }
  const log = { info: (details: object) => { told.push(details) }, warn }
  await tellNeededKeys({ pool, streams, keys, log, signal: new AbortController().signal })
  return told
}

const claim = { userId: '1', method: 'POST', route: '/rotate', key: 'k', body: {}, path: '/rotate' }
const answerOf = async (keys: SecretKeys) => (await new Idempotency(pool, keys).onceInLedger(claim, {
  prepare: async () => {}, write: async () => ({ status: 200, body: { secret: 'whsec_first' } })
})).body

const made = await Promise.all(['1', '2', '3'].map(async (user) => (await userSecrets(pool, keysOf(first), user)).secret))
made.push((await userSecrets(pool, keysOf(second, first), '4')).secret)
await answerOf(keysOf(second, first))
await pool.query("INSERT INTO ledger.webhooks (assistant_id, user_id, url) VALUES (1, '1', 'https://hooks.example.com')")
const setHeaders = (keys: SecretKeys) => inTransaction(pool, (tx) =>
  changeOptions(tx, keys, { assistantId: 1, userId: '1' }, { headers: { 'x-tenant': 'tenant-4711' } }))
await setHeaders(keysOf(first))
const erasure = { id: randomUUID(), userId: '1', phoneNumber: '+15550000001' }
await preparePersonRequest(pool, keysOf(first), 'erasure', erasure)
const personKeys = (keys: SecretKeys) => new PersonKeys({ pool, streams, secretKeys: keys, digest: (text) => text.replaceAll('-', '_') })
const makers = personKeys(keysOf(second))
const [ofPerson] = (await makers.toSealFor(['user-number'])).values()

t.test('several former keys decrypt, and a start tells which of them are needed', async (t) => {
  const keys = keysOf(third, second, first)
  t.equal((await userSecrets(pool, keys, '4')).secret, made[3])
  t.same(await needed(keys), [{ place: 1, texts: 2, persons: 1 }, { place: 2, texts: 5, persons: 0 }])
  await t.rejects(refuseLostKeys(pool, keysOf(third, second)), /SECRET_KEY_PREVIOUS/)
  t.same(await needed(keysOf(third)), [])
})

t.test('a reseal that broke off goes on, and nothing is changed while a key is lost', async (t) => {
  await t.rejects(reseal({ pool, keys: keysOf(third, second) }), /SECRET_KEY_PREVIOUS/)
  const broken = new Error('broken off')
  await t.rejects(reseal({
    pool, keys: keysOf(third, second, first), batchSize: 1, onProgress (count) { if (count === 2) throw broken }
  }), broken)
  t.same((await needed(keysOf(third, second, first))).length, 2)
})

t.test('reseal encrypts all with the current key; secrets and kept answers stay what they were', async (t) => {
  const env = {
    ...settings,
    DATA_DIR: dataDir(t),
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: store.url,
    SECRET_KEY: third,
    SECRET_KEY_PREVIOUS: `${second},${first}`
  }
  const { code, stdout } = await runWarm(['secrets', 'reseal', '--json'], env)
  t.same([code, JSON.parse(stdout)], [0, { resealed: 5, persons: 1 }], 'two of seven were resealed before')
  const none = { texts: 0, persons: 0 }
  t.same(await needed(keysOf(third, second, first)), [{ place: 1, ...none }, { place: 2, ...none }])
  const alone = keysOf(third)
  await refuseLostKeys(pool, alone)
  for (const [index, secret] of made.entries()) {
    t.equal((await userSecrets(pool, alone, String(index + 1))).secret, secret)
  }
  t.same(await answerOf(alone), { secret: 'whsec_first' })
  t.match(await findOptions(pool, alone, 1), { headers: { 'x-tenant': /4711$/ } }, 'the headers of a webhook')
  const { rows: [{ input }] } = await pool.query(
    'SELECT input FROM ledger.work WHERE id = $1', [erasure.id]
  )
  t.equal(unseal(alone, '1', input), erasure.phoneNumber, 'the number of an erasure that waits')
  const opening = personKeys(alone)
  const found = ofPerson && await opening.toOpen([ofPerson])
  t.strictSame(found?.get(ofPerson?.keyId ?? ''), ofPerson?.key, 'the key of a person in the log')
  t.match((await runWarm(['secrets', 'reseal'], env)).stderr, 'already')
})

t.test('headers of a webhook whose key is lost refuse a start, as secrets do', async (t) => {
  await setHeaders(keysOf(randomBytes(32).toString('base64')))
  await t.rejects(refuseLostKeys(pool, keysOf(third)), /secrets or headers of webhooks.*SECRET_KEY_PREVIOUS/)
})
