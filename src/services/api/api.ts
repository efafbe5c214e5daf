// The api role: HTTP on top of commands, read model and delivery log.
import { findLeadOwner } from '../../../projections/find-leads.js'
import { openBlacklists } from '../../commands/blacklist/blacklists.js'
import { notedEntries } from '../../commands/blacklist/noted-entries.js'
import { callOwners } from '../../commands/call-owners.js'
import { commandHandler, type HandleCommand } from '../../commands/handle-command.js'
import { Idempotency } from '../../commands/idempotency.js'
import { openIds } from '../../commands/ids.js'
import { pastAssistants } from '../../commands/past-assistants.js'
import { holdToLeadDigestKey } from '../../commands/phone-hash.js'
import { phoneClaims } from '../../commands/phone-claims.js'
import { leadStream } from '../../features/leads/events.js'
import type { App } from '../../http/app-types.js'
import { commandRoutes, ledgerRoutes } from '../../http/command-route.js'
import { keysBeside } from '../../privacy/person-keys.js'
import { seal, unseal } from '../../privacy/sealed-text.js'
import { secretKeys } from '../complete-config.js'
import { digestOfNumbers } from '../digest-of-numbers.js'
import { forgetRevoked, noteRevoked } from '../../../projections/keys.js'
import type { Services } from '../services.js'
import { opsDeps } from '../ops/ops-deps.js'
import { openActions } from '../ops/start-action.js'
import { importDeps } from './import-deps.js'
import { personDeps, type PersonRoutes } from './person-deps.js'
import { connectForCounts } from './redis-for-counts.js'
import { commandsOfSameLog, idsOfSameLog } from './same-log.js'
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
  const keys = secretKeys(config)
  const idempotency = new Idempotency(pool, {
    seal: (userId, text) => seal(keys, userId, text), unseal: (userId, row) => unseal(keys, userId, row)
  })
  const routes = {
    ...await commandDeps(context, commands, idempotency),
    ...await webhookDeps(context),
    ...await importDeps(context),
    ...await personDeps(context)
  }
  const actions = openActions(context)
  const redis = redisUrl === undefined ? undefined : connectForCounts(redisUrl, log)
  const app = await buildApp({
    ...status,
    healthChecks: { ...status.healthChecks, ids: () => positions.assertCaughtUp() },
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
  const sweep = () => Promise.all([idempotency.removeExpired(), forgetRevoked(pool)]).catch((error: unknown) => {
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
  context: Services, commands: HandleCommand, idempotency: Idempotency
): Promise<Omit<Routes, keyof (WebhookDeps & PersonRoutes) | 'leadImports'>> {
  const { config, connections: { pool, streams, personKeys, positions }, restoreGuard, logGuard } = context
  const hash = digestOfNumbers(config)
  await holdToLeadDigestKey(streams, hash)
  const claims = phoneClaims(commands, hash)
  const ids = idsOfSameLog(openIds(pool, () => positions.isCaughtUp(), restoreGuard.assertMayGiveIds), logGuard)
  const entries = notedEntries(pool, keysBeside(personKeys), () => positions.isCaughtUp(0))
  return {
    handle: commandRoutes({ idempotency, commands, ids, positions }),
    handleLedger: ledgerRoutes(idempotency),
    rateLimitPerMinute: config.rateLimitPerMinute,
    pool,
    assistantAt: pastAssistants(streams),
    positions,
    phoneHash: hash,
    leadStreamOf: ({ campaign_id, phone_number }) => leadStream(campaign_id, hash(phone_number)),
    phoneClaims: claims,
    noteRevoked: (keyId) => noteRevoked(pool, { key: keyId }),
    blacklists: openBlacklists(streams, hash, entries),
    owners: callOwners({ streams, leadOwner: (id) => positions.orNotKnown('leads', () => findLeadOwner(pool, id)) })
  }
}
