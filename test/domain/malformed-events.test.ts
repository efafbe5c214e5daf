// Malformed and misplaced events and those of later releases are refused.
import t from 'tap'
import { DecodeError, currentVersion, decode, eventVersions } from '../../src/domain/events.js'
import { golden, opened, type Golden } from '../support/events/golden.js'

const types = Object.keys(eventVersions)
const read = ({ stream, type, data, schema_version }: Omit<Golden, 'schema_version'> & { schema_version?: string }) =>
  decode({ stream, type, data, metadata: schema_version === undefined ? {} : { schema_version }, revision: 0n })

t.test('a version that only a later release knows is never read as an older one', async (t) => {
  for (const type of types) {
    const latest = Number(currentVersion(type))
    const event = golden(type, String(latest))
    for (const schema_version of [String(latest + 1), '0', '1.0', 'constructor']) {
      const why = `schema_version ${schema_version} is not known to this release; its latest is ${latest}`
      const message = `${type} at ${event.stream}@0: ${why}`
      t.throws(() => read({ ...event, schema_version }), { name: 'DecodeError', message })
    }
  }
})

t.test('each version is held to its own schema', async (t) => {
  const { data } = golden('AssistantCreated', '1')
  t.throws(() => read({ ...golden('AssistantCreated', '2'), data }), { name: 'DecodeError', message: /status/ })
  const odd = read({ ...golden('AssistantCreated', '1'), data: { ...data, status: 'inactive' } })
  t.match(odd, { data: { status: 'active' } }, 'version 1 with what it could not say')
})

t.test('an event without one of its fields, or with another type in it, is malformed', async (t) => {
  for (const place of golden.files.values()) {
    const data = Object.fromEntries(Object.entries(opened(place).data ?? {}))
    const optional = place.type === 'PhoneNumberUnblacklisted' ? 'phone_number' : 'lead_status'
    for (const name of Object.keys(data).filter((name) => name !== optional)) {
      const { [name]: _left, ...rest } = data
      for (const given of [rest, { ...rest, [name]: Symbol('none of JSON') }]) {
        t.throws(() => read({ ...place, data: given }), DecodeError, `${place.type} ${name}`)
      }
    }
  }
})

t.test('an event on a stream that is not its own is malformed', async (t) => {
  for (const event of golden.files.values()) {
    for (const stream of ['assistant-2', 'lead-2-x', 'call-c-2', 'campaign-2', 'phonenumber-2', 'catalog-others', 'else']) {
      t.throws(() => read({ ...event, stream }), DecodeError, `${event.type} on ${stream}`)
    }
  }
})

t.test('types that are not ours are nobody’s business, whatever their version', async (t) => {
  t.equal(decode({
    type: 'LeadDigestKeyChosen', stream: 'ringledger-settings', revision: 0n, metadata: { schema_version: '7' }, data: 5
  }), undefined)
  t.equal(decode({ type: 'constructor', stream: 'x', revision: 0n, metadata: {}, data: {} }), undefined)
  t.throws(() => currentVersion('constructor'), /no event type/)
})
