// The api role: HTTP on top of commands, read model and delivery log.
import { findLeadOwner } from '../../../projections/find-leads.js'
import { openBlacklists } from '../../commands/blacklist/blacklists.js'
import { notedEntries } from '../../commands/blacklist/noted-entries.js'
import { callOwners } from '../../commands/call-owners.js'
import { commandHandler, type CommandHandler } from '../../commands/handle-command.js'
import { Idempotency } from '../../commands/idempotency/idempotency.js'
import { openIds } from '../../commands/ids.js'
import { pastAssistants } from '../../commands/past-assistants.js'
import { holdToLeadDigestKey } from '../../commands/phone-hash.js'
import { phoneClaims } from '../../commands/phone-claims.js'
import { waitIfMissing } from '../../commands/wait-if-missing.js'
import { leadStream } from '../../features/leads/events.js'
import type { App } from '../../http/app-types.js'
import { commandRoutes } from '../../http/command-route.js'
import { keysBeside } from '../../privacy/person-keys.js'
import { digestOfNumbers } from '../digest-of-numbers.js'
import { announceRevoked, forgetAnnounced } from '../../../projections/keys.js'
import type { Services } from '../services.js'
import { opsDeps } from '../ops/ops-deps.js'
import { openActions } from '../ops/start-action.js'
import { catchUp, type CatchUp } from './catch-up.js'
import { importDeps } from './import-deps.js'
import { personDeps, type PersonRoutes } from './person-deps.js'
import { readPositions } from './read-positions.js'
import { connectForCounts } from './redis-for-counts.js'
import { commandsOfSameLog, idsOfSameLog, positionsOfSameLog } from './same-log.js'
import type { Status } from '../status/status.js'
import { webhookDeps, type Routes, type WebhookDeps } from './webhook-deps.js'

/** Between two removals of expired idempotency keys. */
const sweepEveryMs = 10 * 60_000

/** Loads the HTTP side when it is called, so that other commands start sooner. */
export async function composeApi (context: Services, status: Status): Promise<App> {
  const { config, credentials, urls: { redisUrl }, connections: { pool, streams, positions }, logGuard, log } = context
  const { buildApp } = await import('../../app.js')
  const handling = commandHandler(streams, config.streamCacheBytes)
  const commands = commandsOfSameLog(handling, logGuard, () => positions.furthest())
  const idempotency = new Idempotency(pool, commands)
  const catchingUp = await catchUp(context)
  const routes = {
    ...await commandDeps(context, commands, idempotency, catchingUp),
    ...await webhookDeps(context),
    ...await importDeps(context),
    ...await personDeps(context)
  }
  const actions = openActions(context)
  const redis = redisUrl === undefined ? undefined : connectForCounts(redisUrl, log)
  const app = await buildApp({
    ...status,
    healthChecks: { ...status.healthChecks, ids: catchingUp.assertDone },
    logger: log,
    isLeaving: context.isLeaving,
    basePath: config.basePath,
    publicUrl: config.publicUrl,
    jwt: config.jwt,
    credentials,
    corsOrigins: config.corsOrigins,
    rateLimit: { perMinute: config.rateLimitPerMinute, redis },
    ops: await opsDeps(context, actions),
    routes
  })
  const sweep = () => Promise.all([idempotency.removeExpired(), forgetAnnounced(pool)]).catch((error: unknown) => {
    log.warn({ err: error }, 'expired idempotency keys were not removed')
  })
  const sweeping = setInterval(() => void sweep(), sweepEveryMs)
  app.addHook('onClose', async () => {
    clearInterval(sweeping)
    redis?.disconnect()
    await actions.stop()
  })
  return app
}

/** What the routes of assistants, leads, calls and the catalogue work with. */
async function commandDeps (
  context: Services, commands: CommandHandler, idempotency: Idempotency, { isDone, isDoneNow }: CatchUp
): Promise<Omit<Routes, keyof (WebhookDeps & PersonRoutes) | 'leadImports'>> {
  const { config, connections: { pool, streams, personKeys, positions }, restoreGuard, logGuard } = context
  const waitMs = config.readModelWaitMs
  const hash = digestOfNumbers(config)
  await holdToLeadDigestKey(streams, hash)
  const claims = phoneClaims(commands.handle, hash)
  const ids = idsOfSameLog(openIds(pool, isDone, restoreGuard.assertMayGiveIds), logGuard)
  const reads = positionsOfSameLog(readPositions({ positions, waitMs }), logGuard)
  const head = () => streams.head()
  const { passed, reached } = reads
  const known = waitIfMissing({ head, passed, reached, waitMs })
  return {
    handle: commandRoutes({ idempotency, ids, readPositions: reads }),
    rateLimitPerMinute: config.rateLimitPerMinute,
    pool,
    known,
    assistantAt: pastAssistants(commands),
    readPositions: reads,
    phoneHash: hash,
    leadStreamOf: ({ campaign_id, phone_number }) => leadStream(campaign_id, hash(phone_number)),
    phoneClaims: claims,
    announceRevoked: (keyId) => announceRevoked(pool, { key: keyId }),
    blacklists: openBlacklists(streams, hash, notedEntries(pool, keysBeside(personKeys), isDoneNow)),
    owners: callOwners({ streams, leadOwner: (id) => known('leads', () => findLeadOwner(pool, id)) })
  }
}
