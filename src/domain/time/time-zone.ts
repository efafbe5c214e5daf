// Which names are time zones of the form Area/City, and how IANA writes them.
import { zonesByArea } from './time-zone-names.js'

const kept = Object.entries(zonesByArea).flatMap(([area, cities]) =>
  cities.trim().split(/\s+/).map((city) => `${area}/${city}`))

/** Intl may know zones that are newer than the list that is kept here. */
const newer = Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/'))

const names = new Map([...newer, ...kept].map((name) => [name.toLowerCase(), name]))

/**
 * The zone as the IANA database writes it, whatever the case of `name`, or nothing when it has none of that name
 * with an area: `Europe/Kyiv`, not `UTC`. An alias stays what it is.
 */
export function zoneNamed (name: string): string | undefined {
  const isAscii = /^[\x21-\x7e]{1,100}$/.test(name) // there are other letters whose lower case is an ASCII letter
  return isAscii ? names.get(name.toLowerCase()) : undefined
}
