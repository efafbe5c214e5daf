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
    '', '2026-01-31', '2026-01-31T12:00:00', '2026-01-31 12:00:00Z', '2026-01-31t12:00:00z', '2026-01-31T12:00:00+01',
    '2026-01-31T24:00:00Z', '2026-01-31T23:59:60Z', '2026-13-10T12:00:00Z', '2026-04-31T12:00:00Z', '1900-02-29T12:00:00Z',
    '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00', '2026-01-31T12:00:00+16:00'
  ]) t.notOk(isInstant(text), JSON.stringify(text))
})

t.test('every time that we write is one', async () => {
  fc.assert(fc.property(
    fc.date({ min: new Date('1000-01-01T00:00:00Z'), max: new Date('9998-12-31T23:59:59Z'), noInvalidDate: true }),
    (date) => isInstant(date.toISOString())
  ))
})

t.test('a zone is known in any case, and written as IANA writes it; an alias stays the name that was sent', async (t) => {
  const odd = ['US/East-Indiana', 'Australia/ACT', 'Etc/GMT0', 'Europe/Kiev', 'Asia/Calcutta', 'US/Eastern', 'Asia/Saigon']
  for (const name of [...odd, ...Intl.supportedValuesOf('timeZone').filter((each) => each.includes('/'))]) {
    for (const given of [name, name.toLowerCase(), name.toUpperCase()]) t.equal(zoneNamed(given), name, given)
  }
})
