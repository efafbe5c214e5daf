// Says on the terminal why a command failed.

/** Errors that say how to mend them. By name: their classes would load half of the code. */
const refusals = [
  'BackEndUnreachable', 'DataDirInUseError', 'OtherLeadDigestKey', 'OtherLog', 'ParkingRefused', 'Rejection',
  'ReplayRefused', 'RoleRuns', 'TransferRefused', 'UnknownProjection'
]

/** The text for a refusal is its message; for any other error LOG_LEVEL=debug adds the stack. */
export function explain (error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}\n`
  if (error.name === 'Interrupted') return '' // the operator stopped it
  if (error.name === 'BadSettings') return `These settings are not right:\n${error.message.replaceAll(/^/gm, '  ')}\n`
  const messageIsEnough = refusals.includes(error.name) || process.env.LOG_LEVEL !== 'debug'
  return messageIsEnough ? `ringledger: ${error.message}\n` : `${error.stack ?? error.message}\n`
}
