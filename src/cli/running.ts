// What commands run on: settings, back ends, connections. Rejects bad settings before it loads code that connects.
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import type { CompleteConfig } from '../services/complete-config.js'
import type { Connections } from '../services/connections.js'
import type { EmbeddedRequest } from '../services/embedded/own-stack.js'
import { generatedSecrets, keptSecrets } from '../services/generated-secrets.js'
import { BadSettings, loadConfig, type Config } from '../config.js'
import { collect } from '../domain/rejection.js'
import { unusedOf } from '../log/client-url.js'
import { packageRoot } from '../package-root.js'
import { settingNames, misspelt, withFiles } from '../settings.js'
import { openLog, say } from './output.js'

/** Reads the settings. Warns of misspelt names and of what no client uses. @throws BadSettings */
export function readSettings (warn: (line: string) => void = say): Config {
  misspelt(process.env, settingNames).forEach(warn)
  const config = loadConfig(process.env)
  const unused = unusedOf(config.backEnds.eventStoreUrl ?? '')
  if (unused) warn(`${unused.found}. ${unused.mend}`)
  return config
}

/** URLs of the back ends, for commands that need no more: other settings may be invalid. @throws BadSettings */
export function readPlaces () {
  misspelt(process.env, settingNames).forEach(say)
  const { DATA_DIR, EVENTSTORE_CA_FILE: eventStoreCaFile, ...others } = process.env
  const { values: { DATABASE_URL, EVENTSTORE_URL }, problems } = withFiles(others, ['DATABASE_URL', 'EVENTSTORE_URL'])
  if (problems.length > 0) throw new BadSettings(collect({}, problems))
  const none = 'a secret that these commands do not use'
  const secrets = { JWT_SECRET: none, SECRET_KEY: none, LEAD_DIGEST_KEY: none }
  const config = loadConfig({ DATA_DIR, DATABASE_URL, ...secrets })
  const { databaseUrl } = config.backEnds
  return { places: { databaseUrl, eventStoreUrl: EVENTSTORE_URL || undefined, eventStoreCaFile }, config }
}

export type RunConfig = CompleteConfig & {
  /** The JWT secret was generated here, so nobody else can have a token yet. */
  jwtSecretIsOurs: boolean
}

/**
 * Fills in the secrets of a run without any URL: `start` generates them, commands read them.
 * @throws NothingRuns when `makes` is false and no secrets exist yet
 */
export async function completeConfig (config: Config, makes = false): Promise<RunConfig> {
  const { dataDir, jwt, jwtChecks, secretKey, leadDigestKey } = config
  if (jwt && secretKey && leadDigestKey) {
    return { ...config, jwt, secrets: { secretKey, leadDigestKey }, jwtSecretIsOurs: false }
  }
  const { prepareDataDir } = await import('@ringledger/embedded-postgres/data-dir')
  const ours = makes ? await generatedSecrets(prepareDataDir(dataDir)) : await keptSecrets(dataDir)
  if (ours === undefined) {
    const { NothingRuns } = await import('../services/embedded/running-stack.js')
    throw new NothingRuns(dataDir)
  }
  return {
    ...config,
    jwt: jwt ?? { ...jwtChecks, secret: ours.jwtSecret },
    secrets: { secretKey: secretKey ?? ours.secretKey, leadDigestKey: leadDigestKey ?? ours.leadDigestKey },
    jwtSecretIsOurs: jwt === undefined
  }
}

const noTables = 'nothing runs here: DATABASE_URL leads to a database without our tables. ' +
  'Set it to the one that the service uses, or run `ringledger migrate` first.'

export type BackEnds = Awaited<ReturnType<typeof openBackEnds>>

/** What a command may create: nothing, the tables of DATABASE_URL, or also the embedded Postgres. */
export type Makes = 'nothing' | 'tables' | 'all'

type Opening = Pick<EmbeddedRequest, 'role' | 'command' | 'listening'> & { makes: Makes, log?: (line: string) => void }

/** Opens configured back ends, or embedded ones while the command runs. @throws NothingRuns, BackEndUnreachable */
export async function openBackEnds (
  { dataDir, embeddedEventStorePort, backEnds }: Pick<Config, 'dataDir' | 'backEnds' | 'embeddedEventStorePort'>,
  { makes, log = say, ...opening }: Opening
) {
  const { databaseUrl, eventStoreUrl, redisUrl } = backEnds
  const [{ reachablePostgres }, { refuseOtherVersion }, { ping }, { openStack }] = await Promise.all([
    import('../services/back-end-unreachable.js'), import('../postgres/migrate.js'), import('../postgres/pool.js'),
    import('../services/embedded/stack.js')
  ])
  if (databaseUrl) await opening.listening?.assertCanListen() // fail before anything else
  // Checked here, as the embedded event store cannot tell which setting leads to a Postgres that is down.
  const postgres = databaseUrl ? await reachablePostgres(databaseUrl, () => ping(databaseUrl)) : undefined
  if (postgres?.isInUse === false && makes === 'nothing') throw new Error(noTables)
  if (!postgres && makes !== 'all') {
    const { assertHoldsData } = await import('../services/embedded/running-stack.js')
    await assertHoldsData(dataDir)
  }
  const stack = await openStack({
    ...opening,
    dataDir,
    log,
    eventStorePort: embeddedEventStorePort,
    check: (url) => refuseOtherVersion(url, packageRoot),
    ...(databaseUrl && { databaseUrl }),
    ...(eventStoreUrl && { eventStoreUrl })
  })
  const urls = { databaseUrl: stack.databaseUrl, eventStoreUrl: stack.eventStoreUrl, redisUrl, dataIn: stack.dataIn }
  const embeddedIn = databaseUrl && eventStoreUrl ? undefined : resolve(dataDir) // the folder of embedded data
  return { ...stack, urls, embeddedIn }
}

/**
 * Runs a short command on connected back ends, and always closes them. `command` names the process to others on the
 * same DATA_DIR. Logs warnings and worse to stderr.
 */
export async function withConnections<Result> (
  command: string, work: (connections: Connections, log: Logger, config: CompleteConfig) => Promise<Result>,
  makes: Makes = 'nothing'
): Promise<Result> {
  const settings = readSettings()
  const config = await completeConfig(settings, makes === 'all')
  const backEnds = await openBackEnds(settings, { role: 'command', command, makes })
  try {
    const { openConnections } = await import('../services/connections.js')
    const log = openLog(settings.logLevel === 'info' ? 'warn' : settings.logLevel, 2).log
    const connections = await openConnections(backEnds.urls, config, log)
    try {
      return await work(connections, log, config)
    } finally {
      await connections.close()
    }
  } finally {
    await backEnds.close()
  }
}
