import t from 'tap'
import { randomBytes } from 'node:crypto'
import { keyId, seal, unseal } from '../../../src/privacy/sealed-text.js'

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
