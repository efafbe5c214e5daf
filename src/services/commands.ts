// What commands work with, in the roles api and worker: on a log that has gone back, none is taken and no id is given.
import { notedEntries } from '../../projections/blacklist.js'
import { openBlacklists, holdToLeadDigestKey } from '../commands/phone-numbers.js'
import { commandHandler, type HandleCommand } from '../commands/handle.js'
import { openIds, type Ids } from '../commands/ids.js'
import type { Services } from './services.js'

export type CommandServices = Pick<
  Services, 'pool' | 'streams' | 'positions' | 'phoneHash' | 'restoreGuard' | 'logGuard'
>

/** `cacheBytes` bounds what is remembered of streams. */
export async function openCommands (services: CommandServices, cacheBytes: number) {
  const { pool, streams, positions, phoneHash, restoreGuard, logGuard } = services
  await holdToLeadDigestKey(streams, phoneHash)
  const given = openIds(pool, () => positions.isCaughtUp(), restoreGuard.assertMayGiveIds)
  const ids: Ids = {
    async take (kind, count) {
      refuseOtherLog(logGuard)
      return await given.take(kind, count)
    }
  }
  const entries = notedEntries(pool, () => positions.isCaughtUp(0))
  return {
    handle: handleOnSameLog(commandHandler(streams, cacheBytes), services),
    ids,
    blacklists: openBlacklists(streams, phoneHash, entries)
  }
}

/**
 * What is answered in another log may be lost with it. An event that lands where readers are known to be, or before,
 * shows that the log has gone back, however little.
 */
function handleOnSameLog (
  handle: HandleCommand, { logGuard, positions }: Pick<Services, 'logGuard' | 'positions'>
): HandleCommand {
  return async (request) => {
    refuseOtherLog(logGuard)
    const readUpTo = positions.furthest() // before the stream is read: an earlier try may land until then
    const outcome = await handle(request)
    const { revision, position } = outcome
    if (outcome.isAppended && position <= readUpTo) {
      const { stream, origin: { commandId } } = request
      const proof = { stream, revision, position, commandId, readUpTo }
      await logGuard.wentBack(proof).catch(() => {}) // the guard goes on looking by itself
    }
    return outcome
  }
}

function refuseOtherLog ({ problem }: Services['logGuard']): void {
  const otherLog = problem()
  if (otherLog) throw otherLog
}
