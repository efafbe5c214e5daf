import t from 'tap'
import { randomBytes } from 'node:crypto'
import { keyId, seal, unseal } from '../../../src/privacy/sealed-text.js'
import { newSecret, signedHeaders } from '../../../workers/deliver/sign.js'

t.test('the headers carry whole seconds and the number of the attempt', async (t) => {
  const attempt = { id: 'c7a8e3f0-0000-5000-8000-000000000000', attempt: 3, at: new Date(1_769_860_862_999) }
  t.match(signedHeaders(attempt, '0.0.0', Buffer.from('{}'), [newSecret()]), {
    'webhook-timestamp': '1769860862', 'webhook-attempt': '3'
  })
})

t.test('a sealed secret opens with its key and for its user only', async (t) => {
  const [key, other] = [randomBytes(32), randomBytes(32)]
  const row = seal({ current: key, previous: [] }, '1', 'whsec_abc')
  t.equal(row.key_id, keyId(key))
  t.equal(unseal({ current: key, previous: [] }, '1', row), 'whsec_abc')
  t.equal(unseal({ current: other, previous: [key] }, '1', row), 'whsec_abc', 'a previous key still opens')
  t.throws(() => unseal({ current: key, previous: [] }, '2', row), 'a row moved to another user')
  t.throws(() => unseal({ current: other, previous: [] }, '1', row), /SECRET_KEY_PREVIOUS/)
  const spoiled = Buffer.from(row.sealed, 'base64')
  spoiled.writeUInt8(spoiled.readUInt8(spoiled.length - 1) ^ 1, spoiled.length - 1)
  t.throws(() =>
    unseal({ current: key, previous: [] }, '1', { ...row, sealed: spoiled.toString('base64') }), 'a changed row')
  t.not(
    seal({ current: key, previous: [] }, '1', 'whsec_abc').sealed,
    row.sealed,
    'the same secret is never sealed the same way'
  )
})
