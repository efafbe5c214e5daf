// Names of time zones are those of IANA, in its letter case, and aliases stay what they are.
import t from 'tap'
import { zoneNamed } from '../../src/domain/time-zones.js'

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
