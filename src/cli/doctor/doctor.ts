// `ringledger doctor`: checks every setting and back end, and says how to fix problems. Starts nothing.
import { stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { BadSettings, loadConfig, type Config } from '../../config.js'
import type { SecretKeys } from '../../privacy/sealed-text.js'
import { unusedOf } from '../../log/client-url.js'
import { secretKeys } from '../../services/complete-config.js'
import type { Urls } from '../../services/connections.js'
import type { Found as Stack } from '../../services/embedded/running-stack.js'
import { keptSecrets } from '../../services/generated-secrets.js'
import { settingNames, misspelt } from '../../settings.js'
import { print, printJson } from '../output.js'
import type { Finding } from '../../ops/answers.js'
import { problem, runIfReachable, skipped, warning, type Found } from './check.js'
import { checkEventStore, checkPostgres, checkRedis } from './back-ends.js'
import { checkService } from './service.js'

export async function examine ({ json }: { json?: boolean }): Promise<void> {
  const findings = await findAll(process.env)
  const errors = findings.filter(({ level }) => level === 'error').length
  if (json) printJson({ ok: errors === 0, findings })
  else print(textOf(findings))
  if (errors > 0) process.exitCode = 1
}

const marks = { ok: '  ok     ', skipped: '  -      ', warning: '  WARNING', error: '  ERROR  ' }

function textOf (findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ part, check, level, found, mend }, index) => [
    ...findings[index - 1]?.part === part ? [] : [part],
    `${marks[level]}  ${check.padEnd(width)}  ${found}`,
    ...mend === undefined ? [] : [`${' '.repeat(marks.ok.length + width + 4)}${mend}`]
  ])
  return `${[...lines, '', summaryOf(findings)].join('\n')}\n`
}

function summaryOf (findings: readonly Finding[]): string {
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length
  const [errors, warnings] = [count('error'), count('warning')]
  return errors + warnings === 0 ? 'All is well.' : `Errors: ${errors}. Warnings: ${warnings}.`
}

async function findAll (environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { findings, config } = checkSettings(environment)
  return config ? [...findings, ...await findIn(config)] : findings
}

/** Checks all parts in parallel, on the back ends that are given, configured or running. */
export async function findIn (config: Config, given?: Partial<Urls>): Promise<Finding[]> {
  const { backEnds } = config
  const isEmbedded = !(backEnds.databaseUrl && backEnds.eventStoreUrl) && (!given || given.dataIn !== undefined)
  const stack: Promise<Stack> = isEmbedded
    ? import('../../services/embedded/running-stack.js').then(({ runningStack }) => runningStack(config.dataDir))
    : Promise.resolve({})
  const { run } = await stack.catch((): Stack => ({})) // the check of DATA_DIR reports it
  const databaseUrl = given?.databaseUrl ?? backEnds.databaseUrl ?? run?.databaseUrl
  const eventStoreUrl = given?.eventStoreUrl ?? backEnds.eventStoreUrl ?? run?.eventStoreUrl
  const parts = await Promise.all([
    isEmbedded ? checkDataDir(config.dataDir, stack) : [],
    findInBackEnds(config, databaseUrl, eventStoreUrl),
    redisOf(config)
  ])
  return parts.flat()
}

/** Checks Postgres and the event store, and what the service has recorded in both. */
async function findInBackEnds (
  config: Config, databaseUrl: string | undefined, eventStoreUrl: string | undefined
): Promise<Finding[]> {
  const keys = await keysOf(config)
  const { backEnds } = config
  const queueIn = backEnds.redisUrl ? 'redis' : 'postgres'
  const postgres = databaseUrl ? checkPostgres(databaseUrl, !backEnds.databaseUrl, queueIn) : undefined
  const store = eventStoreUrl ? checkEventStore(eventStoreUrl) : undefined
  try {
    const [ofPostgres, ofStore] = await Promise.all([
      postgres?.findings ?? [notRunning('Postgres')], store?.findings ?? [notRunning('Event store')]
    ])
    const isThere = (found: Finding[]) => found.some(({ check, level }) => check === 'reachable' && level === 'ok')
    if (!databaseUrl || !isThere(ofPostgres)) return [...ofPostgres, ...ofStore]
    const service = await checkService({ databaseUrl, store: isThere(ofStore) ? store : undefined, keys })
    return [...ofPostgres, ...ofStore, ...service]
  } finally {
    await Promise.all([postgres?.close(), store?.close()])
  }
}

async function redisOf ({ backEnds: { redisUrl } }: Config): Promise<Finding[]> {
  if (!redisUrl) return [{ part: 'Redis', check: 'REDIS_URL', level: 'ok', found: 'not set: the queue is in Postgres' }]
  return await checkRedis(redisUrl)
}

const notRunning = (part: string): Finding =>
  ({ part, check: 'embedded', level: 'skipped', found: 'it does not run now: `ringledger start` runs it' })

/** The configured keys, or those generated earlier; generates none. */
async function keysOf (config: Config): Promise<SecretKeys | undefined> {
  const { secretKey, leadDigestKey, previousSecretKeys, dataDir } = config
  if (secretKey) return secretKeys({ secrets: { secretKey, leadDigestKey: leadDigestKey ?? '' }, previousSecretKeys })
  const secrets = await keptSecrets(dataDir).catch(() => undefined) // the check of DATA_DIR reports it
  return secrets && secretKeys({ secrets, previousSecretKeys })
}

const part = 'Settings'

/** Also returns the settings if they are valid. */
function checkSettings (environment: NodeJS.ProcessEnv): { findings: Finding[], config?: Config } {
  const first = [checkNode(process.versions.node), ...unknownNames(environment)]
  try {
    const config = loadConfig(environment)
    const own = { part, check: 'settings', level: 'ok' as const, found: 'all are right' }
    const unused = unusedOf(config.backEnds.eventStoreUrl ?? '')
    if (unused) first.push({ part, check: 'EVENTSTORE_URL', level: 'warning', ...unused })
    return { findings: [...first, own], config }
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error
    const mend = 'Set it right; .env.example says what each setting is for.'
    const wrong = error.message.split('\n').map((line): Finding =>
      ({ part, check: line.split(' ')[0] ?? '', level: 'error', found: line, mend }))
    return { findings: [...first, ...wrong] }
  }
}

/** Misspelt settings: nobody reads them, though somebody may count on them. */
const unknownNames = (environment: NodeJS.ProcessEnv): Finding[] => misspelt(environment, settingNames).map((line) =>
  ({ part, check: line.split(' ')[0] ?? '', level: 'warning', found: line, mend: 'Write its name right, or take it away.' }))

/** The oldest release that we test, and the recommended one. */
const [oldest, recommended] = ['20.20.2', 24]

export function checkNode (version: string): Finding {
  const finding = { part, check: 'Node', found: version }
  const mend = `Install Node ${recommended}.`
  if (version.localeCompare(oldest, 'en', { numeric: true }) < 0) return { ...finding, level: 'error', found: `${version}, before ${oldest}`, mend }
  if (Number.parseInt(version) > 20) return { ...finding, level: 'ok' }
  return { ...finding, level: 'warning', found: `${version}, which gets no security fixes any more`, mend }
}

/** A new DATA_DIR takes 200 MB; a working service needs spare room. */
const [leastBytes, scarceBytes] = [200e6, 2e9]

async function checkDataDir (dataDir: string, stack: Promise<Stack>): Promise<Finding[]> {
  const path = resolve(dataDir)
  const { nearestFolder } = await import('@ringledger/embedded-postgres/data-dir')
  return await runIfReachable('DATA_DIR', ['used by', async () => usedBy(await stack)], () => [
    ['disk', async () => await room((await stack).cluster ?? nearestFolder(path))],
    ['secrets', async () => await secretsIn(path)]
  ], 'Set DATA_DIR to a directory that you may read.')

  function usedBy ({ run, heldBy, cluster }: Stack): Found {
    if (run) return `${path}, by ${heldBy}`
    if (heldBy) return skipped(`${path}, by ${heldBy}, whose back ends are its own`)
    return cluster ? `${path}, by nobody now` : `${path}, which holds nothing yet`
  }
}

async function room (path: string): Promise<Found> {
  const { bavail, bsize } = await statfs(path)
  const bytes = bavail * bsize
  const found = `${(bytes / 1e9).toFixed(1)} GB free in ${path}`
  const mend = 'Free some space there, or move DATA_DIR to another disk.'
  if (bytes < leastBytes) return problem(found, mend)
  return bytes < scarceBytes ? warning(found, mend) : found
}

async function secretsIn (path: string): Promise<Found> {
  const file = join(path, 'secrets.json')
  if (!await keptSecrets(path)) return undefined
  const { mode } = await stat(file)
  const isOpen = (mode & 0o077) !== 0 && process.platform !== 'win32'
  return isOpen ? warning(`others may read ${file}`, `chmod 600 ${file}`) : `${file}, for its owner alone`
}
