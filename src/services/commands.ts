// Opens what commands need, for api and worker. On a log that has gone back, it takes no command and gives no id.
import { notedEntries } from '../../projections/blacklist.js'
import { openBlacklists, holdToLeadDigestKey } from '../commands/phone-numbers.js'
import { commandHandler } from '../commands/handle.js'
import { openIds } from '../commands/ids.js'
import type { Services } from './services.js'

type CommandServices = Pick<Services, 'pool' | 'streams' | 'positions' | 'phoneHash' | 'logGuard'>

/** `cacheBytes` limits the cache of streams. */
export async function openCommands (services: CommandServices, cacheBytes: number) {
  const { pool, streams, positions, phoneHash, logGuard: { assertMayGiveIds, problem } } = services
  await holdToLeadDigestKey(streams, phoneHash)
  return {
    handle: commandHandler(streams, cacheBytes, problem),
    ids: openIds(pool, () => positions.isCaughtUp(), assertMayGiveIds, problem),
    blacklists: openBlacklists(streams, phoneHash, notedEntries(pool, positions))
  }
}
