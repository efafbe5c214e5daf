// A start names what is wrong with the way to an event store, in words that say what to mend, without the password.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { reachableHead } from '../../src/services/back-end-unreachable.js'
import { loadConfig } from '../../src/config.js'
import { unusedOf } from '../../src/log/client-url.js'
import { AccessRefused, EventStoreUnavailable } from '../../src/log/errors.js'
import { EventLog, Outages } from '../../src/log/event-log.js'
import { secrets } from '../support/auth/secrets.js'
import { connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventStoreCluster } from '../support/cluster/cluster.js'
import * as certificate from '../support/receivers/hook-certificate.js'

const { store } = await scratchEventStore(t)
const plain = (await eventStoreCluster(t, store, { size: 1 })).members[0].port
const secure = (await eventStoreCluster(t, store, { size: 1, tls: certificate, login: 'ringledger:s3cret' })).members[0].port
const ca = join(t.testdir(), 'ca.pem')
writeFileSync(ca, certificate.cert)

const lookAt = (t: Test, url: string) => reachableHead({ url }, () => new EventLog(connectionTo(t, url)).head())

const ways: Array<[string, string, RegExp]> = [
  ['nothing listens', '127.0.0.1:1?tls=false', /nothing listens at its address/],
  ['the host is not known', 'nowhere.invalid:2113?tls=false', /its host name is not known/],
  ['TLS is spoken to plain', `127.0.0.1:${plain}`, /it speaks without TLS: add tls=false/],
  ['plain is spoken to TLS', `127.0.0.1:${secure}?tls=false`, /it may want TLS/],
  ['the CA is not known', `127.0.0.1:${secure}`, /its certificate is not trusted: set EVENTSTORE_CA_FILE/],
  ['the name is another one', `127.0.0.1:${secure}?tlsCAFile=${encodeURIComponent(ca)}`, /for other host names/],
  ['no member of a cluster is there', '127.0.0.1:1,127.0.0.1:2?tls=false', /127\.0\.0\.1:1: nothing.*127\.0\.0\.1:2: nothing/]
]

for (const [what, place, told] of ways) {
  t.test(`when ${what}, the refusal says so`, async (t) => {
    const refusal = await lookAt(t, `esdb://ringledger:s3cret@${place}`).then(() => '', String)
    t.match(refusal, told)
    t.match(refusal, /EVENTSTORE_URL leads to it/)
    t.notMatch(refusal, 's3cret')
  })
}

t.test('a login that is refused, a right, and a leader that is missing are told as that', async (t) => {
  const { members: [member], elect } = await eventStoreCluster(t, store, { size: 1, login: 'ringledger:s3cret' })
  const told = () => lookAt(t, `esdb://127.0.0.1:${member.port}?tls=false`).then(() => '', String)
  t.match(await told(), /it refuses the login.*\n?.*Check the login of EVENTSTORE_URL and its rights/)
  member.login = undefined
  member.deniesReads = true
  t.match(await told(), /The event store refuses access: it refuses the right to what is asked/)
  member.deniesReads = false
  elect(undefined)
  t.match(await told(), /it has no leader, or is still starting/)
})

t.test('an outage is told once, and a right that is found lost in it as well, because it needs another mend', async (t) => {
  const told: string[] = []
  const tell = (_details: object, message: string) => { told.push(message) }
  const outages = new Outages({ info: tell, warn: tell })
  const [away, refused] = [new EventStoreUnavailable('no answer'), new AccessRefused('no right')]
  for (const failure of [away, away, refused, away, refused]) outages.failed('append', failure)
  t.strictSame(told, ['The event store is not available.', 'The event store refuses access.'])
})

const refused = (env: Record<string, string>) => {
  try {
    loadConfig({ ...secrets, ...env })
    return ''
  } catch (error) {
    return String(error)
  }
}

t.test('options of the URL are checked by name, and its login is never shown', async (t) => {
  const url = 'esdb://ringledger:s3cret@a:2113,b:2113'
  const wrong: Array<[string, RegExp]> = [
    ['?tlsverify=1', /EVENTSTORE_URL has an option that is not known: tlsverify/],
    ['?tlsVerifyCert=false', /EVENTSTORE_URL asks not to verify certificates .* set EVENTSTORE_CA_FILE/],
    ['?nodePreference=nearest', /EVENTSTORE_URL has a value that nodePreference cannot have/],
    [':x', /EVENTSTORE_URL must be a URL such as/],
    ['?tlsCAFile=/nowhere/ca.pem', /EVENTSTORE_URL names a CA file that cannot be read: \/nowhere\/ca\.pem/],
    ['?userCertFile=/nowhere.pem&userKeyFile=/nowhere.key', /certificate that cannot .*\n.* key that cannot be read: \/nowhere\.key/],
    [`?userCertFile=${encodeURIComponent(ca)}`, /EVENTSTORE_URL has one of userCertFile and userKeyFile/],
    ['?keepAliveInterval=-2', /EVENTSTORE_URL has a value that keepAliveInterval cannot have/]
  ]
  for (const [rest, told] of wrong) {
    const refusal = refused({ EVENTSTORE_URL: `${url}${rest}` })
    t.match(refusal, told)
    t.notMatch(refusal, 's3cret')
  }
  t.equal(refused({ EVENTSTORE_URL: `${url}?tls=true&node_preference=Follower&gossipTimeout=3&connectionName=me` }), '')
  t.match(refused({ EVENTSTORE_URL: 'esdb://user:pa@ss:word@host' }), /write @, :, \/ and \? in a password as %40/)
  t.match(refused({ EVENTSTORE_URL: 'esdb://user:100%@host' }), /and % as %25/)
  t.equal(refused({ EVENTSTORE_URL: `${url}?keepAliveInterval=-1&discoveryInterval=0` }), '')
})

t.test('a URL without TLS is warned about by the parts that the client does not use, which are never shown', (t) => {
  t.strictSame(unusedOf('esdb://ringledger:s3cret@a:2113,b:2113?TLS=false'), {
    found: 'EVENTSTORE_URL has tls=false, and without TLS the client does not use its login',
    mend: 'Leave out tls=false, or the login.'
  })
  t.match(unusedOf('esdb://u:s3cret@a?tls=false&tlsCAFile=ca.pem', '--to')?.found, /^--to has .* its login and CA file$/)
  for (const url of ['esdb://a?tls=false', 'esdb://u:s3cret@a', 'esdb://u:s3cret@a?tls=true']) t.equal(unusedOf(url), undefined)
  t.end()
})

t.test('EVENTSTORE_CA_FILE is the CA of a URL that speaks TLS and names none', async (t) => {
  const set = (url: string, file = ca) =>
    loadConfig({ ...secrets, EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: file }).backEnds.eventStoreUrl
  t.equal(set('esdb://a'), `esdb://a?tlsCAFile=${encodeURIComponent(ca)}`)
  t.equal(set('esdb://a?tls=false'), 'esdb://a?tls=false')
  t.match(refused({ EVENTSTORE_URL: 'esdb://a', EVENTSTORE_CA_FILE: '/nowhere.pem' }), /EVENTSTORE_CA_FILE cannot be read: \/nowhere\.pem/)
  const odd = join(t.testdir({ 'odd.pem': 'hello' }), 'odd.pem')
  t.match(refused({ EVENTSTORE_URL: 'esdb://a', EVENTSTORE_CA_FILE: odd }), /EVENTSTORE_CA_FILE holds no certificate in PEM: .*odd\.pem/)
})
