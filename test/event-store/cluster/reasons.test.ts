// What is wrong with the way to an event store is told in words that say what to mend, and never with the password.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { reachableHead } from '../../../src/composition/back-end-unreachable.js'
import { loadConfig } from '../../../src/config.js'
import { openStreams } from '../../../src/event-store/streams.js'
import { secrets } from '../../support/auth/secrets.js'
import { connectionTo, scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { eventStoreCluster } from '../../support/cluster/cluster.js'
import * as certificate from '../../support/receivers/hook-certificate.js'

const { store } = await scratchEventStore(t)
const plain = (await eventStoreCluster(t, store, { size: 1 })).members[0].port
const secure = (await eventStoreCluster(t, store, { size: 1, tls: certificate, login: 'ringledger:s3cret' })).members[0].port
const ca = join(t.testdir(), 'ca.pem')
writeFileSync(ca, certificate.cert)

const lookAt = (t: Test, url: string) => reachableHead({ url }, () => openStreams(connectionTo(t, url)).head())

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
    ['?keepAliveInterval=often', /EVENTSTORE_URL has a value that keepAliveInterval cannot have/],
    [':x', /EVENTSTORE_URL must be a URL such as/],
    ['?tlsCAFile=/nowhere/ca.pem', /EVENTSTORE_URL names a CA file that cannot be read: \/nowhere\/ca\.pem/]
  ]
  for (const [rest, told] of wrong) {
    const refusal = refused({ EVENTSTORE_URL: `${url}${rest}` })
    t.match(refusal, told)
    t.notMatch(refusal, 's3cret')
  }
  t.equal(refused({ EVENTSTORE_URL: `${url}?tls=true&node_preference=Follower&gossipTimeout=3&connectionName=me` }), '')
  t.match(refused({ EVENTSTORE_URL: 'esdb://user:pa@ss:word@host' }), /write @, :, \/ and \? in a password as %40/)
})

t.test('EVENTSTORE_CA_FILE is the CA of a URL that speaks TLS and names none', async (t) => {
  const set = (url: string, file = ca) =>
    loadConfig({ ...secrets, EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: file }).backEnds.eventStoreUrl
  t.equal(set('esdb://a'), `esdb://a?tlsCAFile=${encodeURIComponent(ca)}`)
  t.equal(set('esdb://a?tls=false'), 'esdb://a?tls=false')
  t.match(refused({ EVENTSTORE_URL: 'esdb://a', EVENTSTORE_CA_FILE: '/nowhere.pem' }), /EVENTSTORE_CA_FILE cannot be read: \/nowhere\.pem/)
})
