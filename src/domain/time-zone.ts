// Which names are time zones of the form Area/City.

/**
 * Whether `name` is a zone that the IANA database knows, aliases included, and has an area: `Europe/Kyiv`, not `UTC`.
 * Asks Intl, whose list of supported names leaves out aliases and is therefore not used.
 */
export function isAreaCity (name: string): boolean {
  if (!/^[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+$/.test(name)) return false
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
