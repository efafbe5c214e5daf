// Every event version that was ever written can be read.
import t from 'tap'
import Value from 'typebox/value'
import { currentVersion, decode, eventVersions } from '../../src/domain/events.js'
import { golden, opened, type Golden } from '../support/events/golden.js'

const types = Object.keys(eventVersions)
const personal = /Ada Example|\+1555\d+/
type Given = Omit<Golden, 'schema_version'> & { schema_version?: string }
const read = (given: Given) => decode(opened(given))

t.test('every event type has a golden file for every version up to the present one', async (t) => {
  const versionsOf = (type: string) => Array.from({ length: Number(currentVersion(type)) }, (_, index) => index + 1)
  t.strictSame(
    [...golden.files.keys()].sort(),
    types.flatMap((type) => versionsOf(type).map((version) => `${type}.v${version}.json`)).sort()
  )
  for (const [file, { type, schema_version }] of golden.files) t.equal(file, `${type}.v${schema_version}.json`)
})

t.test('every golden event of a current version is decoded without loss', async (t) => {
  for (const type of types) {
    const stored = golden(type, currentVersion(type))
    t.same(read(stored), { type, data: opened(stored).data }, type)
  }
})

t.test('golden events show persons in their bytes up to the version that seals them', async (t) => {
  for (const [type, { stored, schemas }] of Object.entries(eventVersions)) {
    if (!stored) continue
    const dataOf = (version: number) => golden(type, String(version)).data
    const present = dataOf(schemas.length)
    if (schemas.length > 1) t.match(JSON.stringify(dataOf(schemas.length - 1)), personal, type)
    t.notMatch(JSON.stringify(present), personal, type)
    t.ok(Value.Check(stored, present), `${type} is sealed as its schema says`)
  }
})

t.test('every golden event of a former version is decoded as the next one', async (t) => {
  const former = [...golden.files.values()]
    .filter(({ type, schema_version }) => schema_version !== currentVersion(type))
  t.ok(former.length > 0)
  for (const each of former) {
    t.same(
      read(each), read(golden(each.type, String(Number(each.schema_version) + 1))), `${each.type}.v${each.schema_version}`
    )
  }
})

t.test('an event that does not say its version is of the first one', async (t) => {
  for (const type of types) {
    const { id = '', stream, data } = golden(type, '1')
    t.strictSame(read({ id, stream, type, data }), read(golden(type, '1')), type)
  }
})
