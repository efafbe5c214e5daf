// Opens what a command works on: the back ends that are set, or embedded ones for as long as it runs.
import { resolve } from 'node:path'
import pino, { type DestinationStream, type Logger } from 'pino'
import { loadConfig, type Config } from '../../config.js'
import { reachable } from '../../composition/back-end-unreachable.js'
import type { CompleteConfig } from '../../composition/complete-config.js'
import type { Connections, Urls } from '../../composition/connections.js'
import { generatedSecrets } from '../../composition/generated-secrets.js'
import { errorSerializer } from '../../http/logging.js'
import { ping } from '../../postgres/pool.js'

export interface BackEnds {
  urls: Urls
  /** Where embedded data lies; nothing when every back end is set. */
  embeddedIn?: string
  /** Settles when an embedded back end died. */
  lost: Promise<Error>
  publish (extra: Record<string, unknown>): Promise<void>
  close (): Promise<void>
}

/** Progress for people goes to stderr, so that what a command answers can be piped on. */
export const say = (line: string) => { process.stderr.write(`${line}\n`) }

export async function openBackEnds (config: Config, role: 'start' | 'command', command: string, log: (line: string) => void = say): Promise<BackEnds> {
  const { databaseUrl, eventStoreUrl, redisUrl } = config.backEnds
  if (databaseUrl) await reachable('Postgres', 'DATABASE_URL', ping(databaseUrl)) // the embedded event store could not say which setting it is
  const { openStack } = await import('../../embedded/stack.js')
  const stack = await openStack({
    dataDir: config.dataDir,
    role,
    command,
    log,
    ...(databaseUrl && { databaseUrl }),
    ...(eventStoreUrl && { eventStoreUrl })
  })
  return {
    urls: { databaseUrl: stack.databaseUrl, eventStoreUrl: stack.eventStoreUrl, redisUrl },
    ...(!(databaseUrl && eventStoreUrl) && { embeddedIn: resolve(config.dataDir) }),
    lost: stack.lost,
    publish: (extra) => stack.publish(extra),
    close: () => stack.close()
  }
}

/** Fills in the secrets that a run without any URL makes by itself. */
export async function completeConfig (config: Config): Promise<CompleteConfig & { jwtSecretIsOurs: boolean }> {
  const { jwt, secretKey, leadDigestKey, jwtRoleClaim: roleClaim } = config
  if (jwt && secretKey && leadDigestKey) return { ...config, jwt, secrets: { secretKey, leadDigestKey }, jwtSecretIsOurs: false }
  const { prepareDataDir } = await import('../../embedded/data-dir.js')
  const ours = await generatedSecrets(prepareDataDir(config.dataDir))
  return {
    ...config,
    jwt: jwt ?? { roleClaim, secret: ours.jwtSecret },
    secrets: { secretKey: secretKey ?? ours.secretKey, leadDigestKey: leadDigestKey ?? ours.leadDigestKey },
    jwtSecretIsOurs: jwt === undefined
  }
}

export const openLog = ({ logLevel }: Config, to: DestinationStream = pino.destination(1)): Logger =>
  pino({ level: logLevel, base: null, serializers: { err: errorSerializer } }, to)

/** Runs `work` on connected back ends and closes them whatever happens. */
export async function withConnections<Result> (command: string, work: (connections: Connections, config: CompleteConfig, log: Logger) => Promise<Result>): Promise<Result> {
  const config = loadConfig(process.env)
  const log = openLog({ ...config, logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel }, pino.destination(2))
  const backEnds = await openBackEnds(config, 'command', command)
  try {
    const { openConnections } = await import('../../composition/connections.js') // half of the code, which a refusal does not need
    const connections = await openConnections(backEnds.urls, log)
    try {
      return await work(connections, await completeConfig(config), log)
    } finally {
      await connections.close()
    }
  } finally {
    await backEnds.close()
  }
}
