// Imports of leads, wired: rows are commands, as those of the API are.
import { findCampaign } from '../../../projections/catalog.js'
import type { BackgroundKind } from '../../../workers/background/kind.js'
import { openBlacklists } from '../../commands/blacklist/blacklists.js'
import { notedEntries } from '../../commands/blacklist/noted-entries.js'
import { commandHandler, type HandleCommand } from '../../commands/handle-command.js'
import { openIds } from '../../commands/ids.js'
import { holdToLeadDigestKey } from '../../commands/phone-hash.js'
import { importLead, listedOf } from '../../features/leads/import.js'
import { endDecider } from '../../features/imports/model.js'
import { leadImportStream } from '../../features/imports/events.js'
import { uuidV5 } from '../../log/stored.js'
import { keysBeside } from '../../privacy/person-keys.js'
import { commandsOfSameLog, idsOfSameLog } from '../api/same-log.js'
import { digestOfNumbers } from '../digest-of-numbers.js'
import type { Services } from '../services.js'

type ImportContext = Pick<Services, 'config' | 'connections' | 'restoreGuard' | 'logGuard'>

/** Nobody comes back to the stream of a row soon. */
const cacheBytes = 2 ** 20
/** An import goes on without readers after so long: the projector may be away. */
const readersWithinMs = 2_000

/** `onRows` is told what became of the rows of a part. */
export async function leadImportsOf (
  context: ImportContext, onRows: (outcomes: readonly string[]) => void
): Promise<BackgroundKind> {
  const { config, connections, restoreGuard, logGuard } = context
  const { pool, consumerPool, streams, personKeys, positions } = connections
  const { leadImports } = await import('../../../workers/imports/lead-imports.js')
  const handle = commandsOfSameLog(commandHandler(streams, cacheBytes), logGuard, () => positions.furthest())
  const hash = digestOfNumbers(config)
  await holdToLeadDigestKey(streams, hash)
  const ids = idsOfSameLog(openIds(pool, () => positions.isCaughtUp(), restoreGuard.assertMayGiveIds), logGuard)
  const entries = notedEntries(pool, keysBeside(personKeys), () => positions.isCaughtUp(0))
  const blacklists = openBlacklists(streams, hash, entries)
  const leads = { handle, phoneHash: hash }
  return leadImports({
    pool: consumerPool,
    listed: (userId, rows) => listedOf(blacklists, userId, rows),
    importLead: ({ number, lead, ids, isRetry }, { importId, userId }, listed) => importLead(leads, {
      commandId: uuidV5(importId, `row ${number}`), importId, userId, submitted: lead, listed, ids, isRetry
    }),
    takeIds: (count) => ids.take('lead', count),
    campaignProblem: campaignProblems(context),
    awaitReaders: async (position) => { await positions.reached('leads', position, readersWithinMs) },
    end: endings(handle),
    onRows,
    isRequested: async (importId) => await streams.last(leadImportStream(importId)) !== undefined
  })
}

function campaignProblems ({ connections: { pool, positions } }: ImportContext) {
  return async (userId: string, campaignId: number) => {
    const campaign = await positions.orNotKnown('catalog', () => findCampaign(pool, userId, campaignId))
    return campaign && !campaign.isDeleted ? undefined : 'The campaign was deleted.'
  }
}

type End = Parameters<typeof import('../../../workers/imports/lead-imports.js').leadImports>[0]['end']

const endings = (handle: HandleCommand): End => async ({ importId, userId }, counts, reason, now) => {
  await handle({
    aggregate: endDecider,
    stream: leadImportStream(importId),
    decide: (state) => endDecider.decide({ type: 'end', ...counts, reason, now }, state),
    origin: { commandId: uuidV5(importId, 'end'), correlationId: importId, userId }
  })
}
