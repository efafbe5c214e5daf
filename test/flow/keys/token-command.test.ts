// `ringledger token` and `token revoke` as an operator runs them.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { secrets } from '../../support/auth/secrets.js'
import { dataDir, runWarm } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'

const { url, urls } = await testService(t)
const env = { ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl }
const token = (...args: string[]) => runWarm(['token', ...args], env)
const status = async (bearer: string) =>
  (await fetch(`${url}/user/me`, { headers: { authorization: `Bearer ${bearer}` } })).status

t.test('a token has an id, by which it is revoked', async (t) => {
  const bearer = (await token('--user', '1')).stdout.trim()
  const { jti } = JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString())
  t.match(jti, /^[0-9a-f-]{36}$/)
  t.equal(await status(bearer), 200)
  t.match(await token('revoke', jti), { code: 0, stderr: /The token is revoked\./ })
  await eventually(async () => await status(bearer) === 401)
  t.match(await token('revoke', jti), { code: 0, stderr: /revoked already/ })
})

t.test('what is missing is named', async (t) => {
  t.match(await token(), { code: 1, stderr: /--user is required/ })
  t.match(await token('revoke'), { code: 1, stderr: /missing required argument 'jti'/ })
})
