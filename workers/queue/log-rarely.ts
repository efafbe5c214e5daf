// Limits how often the errors of a broken connection are logged, as each try gives one.

const quietMs = 10_000

/** Logs the first error, and then no other one for ten seconds. */
export function logRarely (
  log: { warn (details: object, message: string): void }, message: string
): (error: Error) => void {
  let quietUntil = 0
  return (error) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    log.warn({ err: error }, message)
  }
}
