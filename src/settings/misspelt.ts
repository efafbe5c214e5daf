// Finds environment variables that are probably misspelt settings.

/** What settings of ours begin with, and hardly anything else; EVENTSTORE_ and REDIS_ are those of the servers, too. */
const prefixes = [
  'ALERT_WEBHOOK_', 'CORS_', 'DRAIN_', 'EMBEDDED_EVENTSTORE_', 'JWT_', 'LEAD_DIGEST_', 'PROJECTION_', 'RATE_LIMIT_',
  'READ_MODEL_', 'STREAM_CACHE_', 'WEBHOOK_'
]

/** What Kubernetes and Docker tell every container of the services beside it. */
const ofNeighbour = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_(TCP|UDP)(_\w+)?)?$/

/** A line for each name that looks like one of `known` and is none. Other programs have variables, too: those pass. */
export function misspelt (environment: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  const unknown = Object.keys(environment).filter((name) => environment[name] && !known.includes(name))
  return unknown.sort().flatMap((name) => {
    const meant = known.find((ours) => isSlipOf(name, ours))
    if (meant) return [`${name} is no setting: did you mean ${meant}?`]
    if (ofNeighbour.test(name) || !prefixes.some((prefix) => name.startsWith(prefix))) return []
    const near = known.find((ours) => ours.startsWith(name) || name.startsWith(`${ours}_`))
    return [`${name} is no setting${near ? `: did you mean ${near}?` : '; .env.example lists them all'}`]
  })
}

/** Of a short name only swapped, doubled and lost letters count: SORT and POST are no PORT. */
function isSlipOf (name: string, ours: string): boolean {
  if (name.toUpperCase() === ours) return !/^(host|port)$/i.test(name) // which anybody may use
  if (Math.abs(name.length - ours.length) > 2) return false // each letter more or less is a slip
  const slips = slipsBetween(name, ours)
  if (ours.length > 5) return slips <= (ours.length < 10 ? 1 : 2)
  return slips === 1 && name[0] === ours[0] && [...name].every((letter) => ours.includes(letter))
}

/** How many letters were lost, added, mistaken or swapped with their neighbour (optimal string alignment). */
function slipsBetween (one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, index) => index)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= other.length; j++) {
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] && i > 1 && j > 1
      row.push(Math.min(
        at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + Number(one[i - 1] !== other[j - 1]),
        isSwap ? at(i - 2, j - 2) + 1 : Infinity
      ))
    }
  }
  return at(one.length, other.length)
}
