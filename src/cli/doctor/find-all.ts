// Runs the checks of every part side by side, on the back ends that are set or that run now. Nothing is started.
import { secretKeys } from '../../services/complete-config.js'
import type { Found as Stack } from '../../services/embedded/running-stack.js'
import { keptSecrets } from '../../services/generated-secrets.js'
import type { Config } from '../../config.js'
import type { SecretKeys } from '../../privacy/sealed-text.js'
import type { Finding } from './check.js'
import type { PostgresUse } from './postgres.js'
import { checkSettings } from './settings.js'

export async function findAll (environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { findings, config } = checkSettings(environment)
  if (!config) return findings
  const isEmbedded = !(config.backEnds.databaseUrl && config.backEnds.eventStoreUrl)
  const stack = isEmbedded ? await stackOf(config) : {}
  const databaseUrl = config.backEnds.databaseUrl ?? stack.run?.databaseUrl
  const eventStoreUrl = config.backEnds.eventStoreUrl ?? stack.run?.eventStoreUrl
  const parts = await Promise.all([
    isEmbedded ? import('./data-dir.js').then(({ checkDataDir }) => checkDataDir(config.dataDir, stack)) : [],
    findInBackEnds(config, { databaseUrl, eventStoreUrl, stack }),
    redisOf(config)
  ])
  return [...findings, ...parts.flat()]
}

async function stackOf ({ dataDir }: Config): Promise<Stack> {
  const { runningStack } = await import('../../services/embedded/running-stack.js')
  return await runningStack(dataDir)
}

interface Ways { databaseUrl: string | undefined, eventStoreUrl: string | undefined, stack: Stack }

/** Postgres and the event store, and what the service has noted in both. */
async function findInBackEnds (config: Config, { databaseUrl, eventStoreUrl }: Ways): Promise<Finding[]> {
  const [{ checkPostgres }, { checkEventStore }, { checkService }, keys] = await Promise.all([
    import('./postgres.js'), import('./event-store.js'), import('./service.js'), keysOf(config)
  ])
  const postgres = databaseUrl ? checkPostgres(databaseUrl, useOf(config)) : undefined
  const store = eventStoreUrl ? checkEventStore(eventStoreUrl) : undefined
  try {
    const [ofPostgres, ofStore] = await Promise.all([
      postgres?.findings ?? [notRunning('Postgres')], store?.findings ?? [notRunning('Event store')]
    ])
    const isThere = ofPostgres.some(({ check, level }) => check === 'reachable' && level === 'ok')
    if (!databaseUrl || !isThere) return [...ofPostgres, ...ofStore]
    const service = await checkService({ databaseUrl, streams: store?.streams, store, keys })
    return [...ofPostgres, ...ofStore, ...service]
  } finally {
    await Promise.all([postgres?.close(), store?.close()])
  }
}

const useOf = ({ backEnds: { databaseUrl, redisUrl } }: Config): PostgresUse =>
  ({ isEmbedded: !databaseUrl, queueIn: redisUrl ? 'redis' : 'postgres' })

async function redisOf ({ backEnds: { redisUrl } }: Config): Promise<Finding[]> {
  if (!redisUrl) return [{ part: 'Redis', check: 'REDIS_URL', level: 'ok', found: 'not set: the queue is in Postgres' }]
  const { checkRedis } = await import('./redis.js')
  return await checkRedis(redisUrl)
}

const notRunning = (part: string): Finding =>
  ({ part, check: 'embedded', level: 'skipped', found: 'it does not run now: `ringledger start` runs it' })

/** Those that are set, or that were generated before: nothing is made here. */
async function keysOf (config: Config): Promise<SecretKeys | undefined> {
  const { secretKey, leadDigestKey, previousSecretKeys, dataDir } = config
  if (secretKey) return secretKeys({ secrets: { secretKey, leadDigestKey: leadDigestKey ?? '' }, previousSecretKeys })
  const secrets = await keptSecrets(dataDir).catch(() => undefined) // told by the check of DATA_DIR
  return secrets && secretKeys({ secrets, previousSecretKeys })
}
