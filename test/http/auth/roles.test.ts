// What the roles of valid tokens may do, and where the role stands.
import t from 'tap'
import { roleMapOf } from '../../../src/http/credentials.js'
import { claims, guarded, secret, signed } from './tokens.js'

const { status } = await guarded(t, { roleClaim: 'role', secret })

t.test('each role has its own routes', async (t) => {
  t.equal(await status(await signed(claims({ role: 'engine' }))), 403)
  t.equal(await status(await signed(claims({ role: 'engine' })), '/engine'), 200)
  t.equal(await status(await signed(claims()), '/engine'), 403)
  for (const role of ['ops', 'user', '', 'admin', null, 1, ['engine'], {}]) {
    t.equal(await status(await signed(claims({ role }))), 403, `role ${JSON.stringify(role)}`)
    t.equal(await status(await signed(claims({ role })), '/engine'), 403, `role ${JSON.stringify(role)}`)
  }
})

t.test('the role is in the claim that the setting names, and in no other', async (t) => {
  const roleClaim = 'https://example.com/role'
  const { status } = await guarded(t, { roleClaim, secret })
  t.equal(await status(await signed(claims({ [roleClaim]: 'engine' })), '/engine'), 200)
  t.equal(await status(await signed(claims({ [roleClaim]: 'engine' }))), 403)
  t.equal(await status(await signed(claims({ role: 'engine' }))), 200, 'another claim means nothing')
})

t.test('roles of an issuer stand for those of the map; what is in no map is as it was', async (t) => {
  const roleMap = roleMapOf('authenticated=user,service_role=engine,admin=ops,engine=user,=user')
  const { status } = await guarded(t, { roleClaim: 'role', secret, roleMap })
  for (const role of ['authenticated', '', null, 'engine']) {
    t.equal(await status(await signed(claims({ role }))), 200, `${role} is a user`)
    t.equal(await status(await signed(claims({ role })), '/engine'), 403, `${role} is no engine`)
  }
  t.equal(await status(await signed(claims({ role: 'service_role' })), '/engine'), 200)
  for (const role of ['admin', 'ops', 'user', 'anon', 'constructor', '__proto__', 1, [''], ['authenticated'], {}]) {
    t.equal(await status(await signed(claims({ role }))), 403, `role ${JSON.stringify(role)}`)
    t.equal(await status(await signed(claims({ role })), '/engine'), 403, `role ${JSON.stringify(role)}`)
  }
  t.equal(await status(await signed(claims())), 200, 'no claim')
})
