// `ringledger start`, `api`, `projector` and `worker`: runs roles until a signal, then drains.
import { join } from 'node:path'
import type { Role } from '../services/services.js'
import { assertCanListen, startRoles, type Service } from '../services/roles.js'
import { refuseLackingRedis } from '../services/back-end-unreachable.js'
import { packageRoot, packageVersion } from '../package-root.js'
import type { CompleteConfig } from '../services/complete-config.js'
import { customer, customerNumber, frontDesk } from '../domain/examples.js'
import { importExampleOnce } from './catalog.js'
import { logWarnings, openLog, voiceOf, type Voice } from './output.js'
import { completeConfig, openBackEnds, readSettings, type BackEnds, type RunConfig } from './running.js'
import { Shutdown } from './shutdown.js'
import { signToken } from './token.js'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import { endsWithin } from '../timing.js'
import { tracing } from '../tracing/tracing.js'

/** Runs all roles in one process, with embedded back ends where no URL is set. */
export async function start (): Promise<void> {
  const roles: Role[] = ['api', 'projector', 'worker']
  await serve('start', 'ringledger start', roles, async ({ config, backEnds, service, voice }) => {
    await backEnds.publish({ url: service.url })
    const eventStoreUrl = config.backEnds.eventStoreUrl ? undefined : backEnds.urls.eventStoreUrl
    const places = placesOf(service.url, config, { folder: backEnds.embeddedIn, eventStoreUrl })
    if (process.stdout.isTTY) process.stdout.write(await welcome(places, config))
    else voice.say(`Ringledger ${packageVersion} is listening on ${places.url}`, { ...places })
  })
}

/** Runs one role on configured back ends, or on the running stack of DATA_DIR. */
export async function serveRole (role: Role): Promise<void> {
  await serve('command', `ringledger ${role}`, [role], async ({ service: { url }, voice }) => {
    voice.say(`Ringledger ${role} is listening on ${url}`, { role, url })
  })
}

interface Running { config: RunConfig, backEnds: BackEnds, service: Service, voice: Voice }

/**
 * `holder` decides how back ends are opened. `command` names the process to others on the same DATA_DIR.
 * When `tell`, which says that it runs, fails, it ends.
 */
async function serve (
  holder: 'start' | 'command', command: string, roles: Role[], tell: (running: Running) => Promise<void>
): Promise<void> {
  const misspelt: string[] = []
  const settings = readSettings((line) => { misspelt.push(line) })
  const config = await completeConfig(settings, holder === 'start')
  const opened = openLog(settings.logLevel)
  const { log } = opened
  const voice = voiceOf(opened)
  logWarnings(log)
  for (const line of misspelt) log.warn(line)
  const shutdown = new Shutdown(voice)
  await shutdown.during(async (signal) => {
    if (settings.backEnds.redisUrl) await refuseLackingRedis(settings.backEnds.redisUrl)
    const backEnds = await openBackEnds(settings, {
      role: holder,
      command,
      makes: holder === 'start' ? 'all' : 'tables',
      log: voice.say,
      listening: { port: config.port, assertCanListen: () => assertCanListen(config) }
    })
    let atOnce = false // set when the roles have stopped
    shutdown.add(() => backEnds.close({ atOnce }))
    shutdown.onLost(backEnds.lost)
    shutdown.add(await openTracing(config, log))
    signal.throwIfAborted()
    const takesExample = holder === 'start' && backEnds.embeddedIn !== undefined
    const service = await startRoles(roles, config, backEnds.urls, log, async (connections) => {
      const example = join(packageRoot, 'examples/catalog.json')
      if (takesExample) await importExampleOnce(connections, example, config, log)
      signal.throwIfAborted()
    })
    shutdown.add(async () => { atOnce = (await service.stop()).postgresIsSilent })
    shutdown.leaveFirst(settings.drainDelayMs, service.leave)
    signal.throwIfAborted()
    await tell({ config, backEnds, service, voice })
  })
}

/** URLs to print, with BASE_PATH. Those of embedded back ends are absent when others are configured. */
export function placesOf (
  url: string, { basePath }: CompleteConfig,
  { folder, eventStoreUrl }: { folder?: string | undefined, eventStoreUrl?: string | undefined }
) {
  const base = `${url}${basePath}`
  return {
    url: base,
    docs: `${base}/docs`,
    console: `${base}/`,
    ...(eventStoreUrl && { events: eventStoreUrl }), // for programs that append, such as a call engine
    ...(folder && { data: folder })
  }
}

/** For a terminal. Has examples only if the secret was generated here, so nobody else can have a token yet. */
async function welcome (
  { url, docs, console, events, data }: ReturnType<typeof placesOf>, config: RunConfig
): Promise<string> {
  return [
    `Ringledger ${packageVersion}`,
    `  listening  ${url}`,
    `  docs       ${docs}`,
    `  console    ${console}`,
    ...(events ? [`  events     ${events}`] : []),
    ...(data ? [`  data       ${data} (embedded back ends)`] : []),
    ...(config.jwtSecretIsOurs ? ['', ...await examples(url, config)] : []),
    '',
    'Stop with Ctrl-C.',
    ''
  ].join('\n')
}

/** Sign-in links, and three commands that work when pasted in this order after the first start. */
async function examples (base: string, { jwt }: CompleteConfig): Promise<string[]> {
  const token = await signToken(jwt, { user: '1', ttl: '1h' })
  const operator = await signToken(jwt, { user: 'operator', role: 'ops', ttl: '1h' })
  const { customer_name } = customer
  const headers = '-H "Authorization: Bearer $TOKEN" -H \'Content-Type: application/json\''
  const curl = (method: string, path: string, body: object) =>
    `  curl -sS -X ${method} ${base}${path} ${headers} -d '${JSON.stringify(body)}'`
  return [
    'Open one of these to sign in to the console, as user 1 of the example catalogue or as an operator (for one hour):',
    `  ${base}/#token=${token}`,
    `  ${base}/#token=${operator}`,
    '',
    'Or try it from here (the token is good for one hour):',
    `  TOKEN=${token}`,
    curl('POST', '/user/assistant', frontDesk),
    curl('PUT', '/user/assistant/1', { speech_speed: 1.1, max_call_duration: 300 }),
    curl('POST', '/user/lead', { phone_number: customerNumber, campaign_id: 1, variables: { customer_name } })
  ]
}

/** How long a stop waits for a collector. */
const lastSpansMs = 2_000
const tellEveryMs = 60_000

/** @returns what turns tracing off, after sending the last spans. Loads nothing of OpenTelemetry when it is off. */
async function openTracing ({ traces }: Pick<Config, 'traces'>, log: Logger): Promise<() => Promise<void>> {
  if (!traces) return async () => {}
  const { openTelemetry } = await import('../tracing/open-telemetry.js')
  let quietUntil = 0
  const onProblem = () => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + tellEveryMs
    log.warn('traces could not be sent: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector behind it')
  }
  const tracer = openTelemetry({ version: packageVersion, onProblem })
  tracing.tracer = tracer
  return async () => {
    if (tracing.tracer === tracer) tracing.tracer = undefined
    await endsWithin(lastSpansMs, tracer.stop().catch(() => {}))
  }
}
