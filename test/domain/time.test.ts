// Times that callers send are ones that JavaScript and Postgres both read.
import t from 'tap'
import Value from 'typebox/value'
import { Instant } from '../../src/domain/json.js'
import { fc } from '../support/fuzz/property.js'
import { zoneNamed } from '../../src/features/assistants/validate.js'

const isInstant = (text: string) => Value.Check(Instant(), text)

t.test('an instant has a date, a time and an offset', async (t) => {
  for (const text of ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123456789Z', '2026-12-31T23:59:59+05:45', '2024-02-29T00:00:00-12:00', '2000-02-29T00:00:00Z']) {
    t.ok(isInstant(text), text)
  }
})

t.test('no other spelling, no day that the calendar lacks, and nothing that Postgres refuses', async (t) => {
  for (const text of [
    '', 'yesterday', '2026-01-31', '2026-01-31T12:00:00', '2026-01-31 12:00:00Z', '2026-01-31t12:00:00z',
    '2026-01-31T12:00:00+01', '2026-01-31T12:00:00+0100', '2026-01-31T12:00Z', '2026-01-31T24:00:00Z',
    '2026-01-31T23:59:60Z', '2026-01-31T12:00:00Z[Europe/Amsterdam]', '2026-01-31T12:00:00.Z', 'x2026-01-31T12:00:00Z',
    '2026-00-10T12:00:00Z', '2026-13-10T12:00:00Z', '2026-04-31T12:00:00Z', '2026-02-29T12:00:00Z',
    '1900-02-29T12:00:00Z', '2026-02-30T12:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00', '2026-01-31T12:00:00+16:00', '2026-01-31T12:00:00+23:00', '+12026-01-31T12:00:00Z'
  ]) t.notOk(isInstant(text), JSON.stringify(text))
})

t.test('every time that we write is one', async () => {
  fc.assert(fc.property(
    fc.date({ min: new Date('1000-01-01T00:00:00Z'), max: new Date('9998-12-31T23:59:59Z'), noInvalidDate: true }),
    (date) => isInstant(date.toISOString())
  ))
})

const supported = Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/'))

t.test('a zone is known in any case, and written as IANA writes it', async (t) => {
  const zones = [
    'Europe/Amsterdam', 'America/Port-au-Prince', 'America/Argentina/ComodRivadavia', 'Africa/Dar_es_Salaam',
    'Antarctica/DumontDUrville', 'Etc/GMT+5', 'Etc/GMT0', 'US/East-Indiana', 'America/North_Dakota/New_Salem',
    'Australia/ACT', 'Asia/Ust-Nera', 'America/Coyhaique'
  ]
  for (const name of [...zones, ...supported]) {
    for (const given of [name, name.toLowerCase(), name.toUpperCase()]) t.equal(zoneNamed(given), name, given)
  }
})

t.test('an alias stays the name that was sent', async (t) => {
  const pairs = [
    ['Europe/Kyiv', 'Europe/Kiev'], ['Asia/Kolkata', 'Asia/Calcutta'], ['America/New_York', 'US/Eastern'],
    ['Asia/Ho_Chi_Minh', 'Asia/Saigon'], ['America/Nuuk', 'America/Godthab']
  ]
  for (const name of pairs.flat()) t.equal(zoneNamed(name.toLowerCase()), name)
})

t.test('what has no area is no zone here, nor what IANA does not have', async (t) => {
  const none = [
    '', 'UTC', 'EST', 'GB', 'Europe', 'Europe/', '/Amsterdam', 'Europe/Atlantis', ' Europe/Amsterdam', 'Europe/Amsterdam/',
    'SystemV/EST5EDT', 'posix/Europe/Amsterdam', 'Europe/\u212Ayiv', '+02:00'
  ]
  for (const name of none) t.equal(zoneNamed(name), undefined, name)
})

t.test('the program that runs this knows every one of them', async (t) => {
  const unknown = supported.map((name) => zoneNamed(name) ?? '').filter((name) => {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone === ''
  })
  t.strictSame(unknown, [])
})
