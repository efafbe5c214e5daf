// `ringledger events copy` to and from servers that speak TLS and want a login.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { eventStoreCluster } from '../../support/cluster/cluster.js'
import { transferable } from '../../support/events/transferable.js'
import * as otherCertificate from '../../support/receivers/hook-certificate.js'
import { type Environment, runWarm } from '../../support/ringledger.js'
import { event, written } from '@ringledger/event-transfer/testing'

const certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVn2IlzO86uiA64oP
KlDeMDa6Ato6fDR2e2/SUo9TeRmhRANCAAQswOpFzS/48OlgfKwqJyOIhjtRmdvZ
AyAOesJB2wk9rIBlRVuKTEeWFcRutdDVwqvA31cYI6I/lWoAKT6SM14A
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBZDCCAQugAwIBAgIBATAKBggqhkjOPQQDAjATMREwDwYDVQQDDAhsb29wYmFj
azAgFw0yNDAxMDEwMDAwMDBaGA8yMTI0MDEwMTAwMDAwMFowEzERMA8GA1UEAwwI
bG9vcGJhY2swWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQswOpFzS/48OlgfKwq
JyOIhjtRmdvZAyAOesJB2wk9rIBlRVuKTEeWFcRutdDVwqvA31cYI6I/lWoAKT6S
M14Ao04wTDAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwDwYDVR0TAQH/BAUw
AwEB/zAdBgNVHQ4EFgQUSty93BzMaSSVtCiE0lUp3BAS1ugwCgYIKoZIzj0EAwID
RwAwRAIgBOKmOr3fzYt7uDe0Fa7gJ3H2Hf6UR/zToZ84xSzrKBcCID9sE+JcW0r4
iYt+7UV3Z1JvpDc431cCPpNWW8bE73FY
-----END CERTIFICATE-----
`
}

const postgres = await scratchPostgres(t)
const folder = t.testdir({ 'ca.pem': '', 'other.pem': '' })
const ca = join(folder, 'ca.pem')
const other = join(folder, 'other.pem')
writeFileSync(ca, certificate.cert)
writeFileSync(other, otherCertificate.cert)

const login = 'ringledger:s3cret'
let made = 0

/** A log that is reached in plain, and behind TLS and a login. */
async function secured (t: Test) {
  const log = await transferable(t, postgres, `secured_${++made}`)
  const { url } = await eventStoreCluster(t, log, { size: 1, tls: certificate, login })
  return { ...log, secure: url.replace(/\?.*/, '') }
}

const copy = (args: readonly string[], env: Environment) => runWarm(['events', 'copy', '--json', ...args], env)

t.test('EVENTSTORE_CA_FILE counts for both, and --to-ca-file for the target where it has another one', async (t) => {
  const [source, target] = [await secured(t), await secured(t)]
  await source.client.appendToStream('call-1', [event('Round', { round: 1 }), event('Round', { round: 2 })])
  const args = ['--to', target.secure]
  const untrusted = await copy([...args, '--to-ca-file', other], { EVENTSTORE_URL: source.secure, EVENTSTORE_CA_FILE: ca })
  t.match(untrusted, { code: 1, stderr: /^.*The target did not answer: its certificate is not trusted.* --to leads to it/m })
  t.notMatch(untrusted.stderr, /s3cret/)
  const trusted = { EVENTSTORE_URL: source.secure, EVENTSTORE_CA_FILE: ca }
  t.match(await copy(args, trusted), { code: 0 })
  t.same(await written(target.store), await written(source.store))
  const plain = { EVENTSTORE_URL: source.url, EVENTSTORE_CA_FILE: other }
  t.match(await copy([...args, '--to-ca-file', ca], plain), { code: 0 })
})
