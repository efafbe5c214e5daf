// What an API does on a log that has gone back: it takes no command, and gives out no id.
import type { HandleCommand } from '../../commands/handle-command.js'
import type { Ids } from '../../commands/ids.js'
import type { LogGuard } from '../../recovery/log-guard.js'

type Guard = Pick<LogGuard, 'problem' | 'wentBack'>

/**
 * Commands while it is the same log: what is answered in another one may be lost with it. `furthest` is how far readers
 * are known to be. An event that lands there or before shows that the log has gone back, however little.
 */
export function commandsOfSameLog (
  handle: HandleCommand, guard: Guard, furthest: () => bigint
): HandleCommand {
  return async (request) => {
    refuseOtherLog(guard)
    const readUpTo = furthest() // before the stream is read: an earlier try may land until then
    const outcome = await handle(request)
    const { revision, position } = outcome
    if (outcome.isAppended && position <= readUpTo) {
      const { stream, origin: { commandId } } = request
      const proof = { stream, revision, position, commandId, readUpTo }
      await guard.wentBack(proof).catch(() => {}) // the guard goes on looking by itself
    }
    return outcome
  }
}

/** None is spent on what is refused. */
export function idsOfSameLog (ids: Ids, guard: Guard): Ids {
  return {
    async take (kind, count) {
      refuseOtherLog(guard)
      return await ids.take(kind, count)
    }
  }
}

function refuseOtherLog ({ problem }: Guard): void {
  const otherLog = problem()
  if (otherLog) throw otherLog
}
