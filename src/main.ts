// The command line: parse, compose, run, close with grace.
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ListOptions } from './cli/webhooks/list.js'
import type { RecoverOptions } from './cli/webhooks/recover.js'
import { packageVersion } from './package-root.js'

const program = new Command('ringledger')
  .description('Event-sourced backend of a voice-calling product. Settings come from the environment: see .env.example.')
  .version(packageVersion)
  .showHelpAfterError()

program.command('start').description('run all roles, with embedded back ends where no URL is set')
  .action(async () => (await import('./cli/running/serve.js')).start())

for (const [role, what] of [['api', 'answers HTTP callers'], ['projector', 'builds the read models'], ['worker', 'delivers webhooks']] as const) {
  program.command(role).description(`run the role that ${what}`)
    .action(async () => (await import('./cli/running/serve.js')).serve(role))
}

program.command('event-store').description('run the embedded event store alone; prints LISTENING <port>')
  .option('--port <port>', 'port to listen on; 0 takes any', portNumber, 2113)
  .action(async ({ port }: { port: number }) => (await import('./cli/event-store.js')).serveEventStore(port))

program.command('migrate').description('bring the database up to date')
  .action(async () => (await import('./cli/migrate.js')).migrateDatabase())

program.command('demo').description('the main job on real input, start to end, in a temporary DATA_DIR')
  .action(async () => (await import('./cli/demo/demo.js')).demo())

program.command('token').description('make a bearer token for an API that is set up with JWT_SECRET')
  .requiredOption('--user <id>', 'the user it acts for')
  .addOption(new Option('--role <role>', 'engine or ops; a caller has no role').choices(['engine', 'ops']))
  .option('--ttl <time>', 'how long it is good for, such as 15m, 1h or 30d', timeToLive, '1h')
  .action(async (options: { user: string, role?: string, ttl: string }) => (await import('./cli/token.js')).printToken(options))

program.command('catalog').description('voices, languages, models, campaigns and phone numbers')
  .command('import').argument('<file>').description('import a catalogue file; returns when it is projected')
  .action(async (file: string) => (await import('./cli/catalog.js')).importCatalogFile(file))

program.command('calls').description('completed calls')
  .command('complete').argument('<file>').description('report the completed call in a JSON file, by event')
  .action(async (file: string) => (await import('./cli/calls.js')).completeCallFromFile(file))

const projections = program.command('projections').description('read models')
projections.command('list').description('where each projection stands').option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./cli/projections.js')).listProjections(options))
projections.command('replay').argument('<name>').description('build a projection anew beside the present one, verify it, swap; goes on where an earlier one stopped')
  .option('--dry-run', 'only tell what it would do').option('--accept-differences', 'swap although rows differ from those that readers see')
  .action(async (name: string, options: { dryRun?: boolean, acceptDifferences?: boolean }) => (await import('./cli/projections.js')).replayProjection(name, options))
projections.command('verify').argument('<name>').description('compare a sample of the rows that readers see with the log')
  .option('--sample <n>', 'rows of each table', positive, 1_000).option('--seed <n>', 'the same seed, the same sample', positive)
  .action(async (name: string, options: { sample: number, seed?: number }) => (await import('./cli/projections.js')).verifyProjection(name, options))
projections.command('rollback').argument('<name>').description('swap the generation before back in, level with the present one')
  .action(async (name: string) => (await import('./cli/projections.js')).rollBackProjection(name))
projections.command('drop').argument('<name>').description('drop the generations that were retained')
  .option('--generation <n>', 'only this one, whatever its state; never the one that readers see', positive)
  .action(async (name: string, options: { generation?: number }) => (await import('./cli/projections.js')).dropGenerations(name, options))

const quarantine = projections.command('quarantine').description('events that a projection cannot take, and what to do about them')
const held = (command: string, what: string) => quarantine.command(command).description(what)
held('list', 'what waits, by projection and generation').argument('[name]', 'of one projection').option('--json', 'for programs: with the skips')
  .action(async (name: string | undefined, options: { json?: boolean }) => (await import('./cli/quarantine.js')).listQuarantine(name, options))
held('show', 'an event that waits, as the log has it (with personal data), and why').argument('<name>').argument('<stream>')
  .argument('[revision]', 'the first one that waits when it is not given', revisionNumber).option('--json', 'for programs')
  .action(async (name: string, stream: string, revision: bigint | undefined, options: { json?: boolean }) => (await import('./cli/quarantine.js')).showHeld(name, stream, revision, options))
held('retry', 'project what waits of a stream: all of it, or nothing').argument('<name>').argument('<stream>')
  .action(async (name: string, stream: string) => (await import('./cli/quarantine.js')).retryHeld(name, stream))
held('skip', 'give one event up for good, in rebuilds too, and go on with its stream').argument('<name>').argument('<stream>').argument('<revision>', 'of the event', revisionNumber)
  .requiredOption('--reason <text>', 'why, for those who come later')
  .action(async (name: string, stream: string, revision: bigint, options: { reason: string }) => (await import('./cli/quarantine.js')).skipHeld(name, stream, revision, options))
held('resume', 'let a projection go on that stands still because it refused too many streams').argument('<name>')
  .action(async (name: string) => (await import('./cli/quarantine.js')).resumeProjection(name))

const events = program.command('events').description('the log: copy it to another event store, export it to a file, import it')
const inFlight = () => new Option('--in-flight <n>', 'most appends under way at once').argParser(wholeNumber).default(256)
events.command('copy').description('copy everything to another EventStoreDB and verify it; goes on where the target stands')
  .requiredOption('--to <url>', 'where to, such as esdb://host:2113?tls=false')
  .addOption(inFlight()).option('--json', 'for programs')
  .action(async (options: { to: string, inFlight: number, json?: boolean }) => (await import('./cli/events.js')).copyEvents(options))
events.command('export').argument('[file]', 'gzip when it ends in .gz; - is stdout', '-').description('write everything as JSON lines')
  .action(async (file: string) => (await import('./cli/events.js')).exportEvents(file))
events.command('import').argument('<file>', 'an export, packed or not; - is stdin').description('bring an export into the present event store and verify it; goes on where that stands')
  .option('--allow-truncated', 'take the whole lines of a file that lacks its end').addOption(inFlight()).option('--json', 'for programs')
  .action(async (file: string, options: { inFlight: number, allowTruncated?: boolean, json?: boolean }) => (await import('./cli/events.js')).importEvents(file, options))

events.command('adopt').description('with every role stopped: make the consumers follow a log that was moved, or that is older than what they have read')
  .action(async () => (await import('./cli/adopt.js')).adoptEvents())

const webhooks = program.command('webhooks').description('deliveries: what became of them, and sending them again')
const user = () => new Option('--user <id>', 'only those of this user')
const assistant = () => new Option('--assistant <id>', 'only those of this assistant').argParser(anyId)
webhooks.command('list').description('deliveries, newest first').addOption(user()).addOption(assistant()).option('--call <id>', 'only that of this call')
  .addOption(new Option('--status <status>', 'only those that stand so').choices(['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped']))
  .addOption(new Option('--limit <n>', 'how many').argParser(wholeNumber).default(50)).option('--json', 'for programs')
  .action(async (options: ListOptions) => (await import('./cli/webhooks/list.js')).listWebhooks(options))
webhooks.command('show').argument('<id>', 'its webhook-id').description('a delivery with every attempt').option('--json', 'for programs')
  .action(async (id: string, options: { json?: boolean }) => (await import('./cli/webhooks/show.js')).showWebhook(id, options))
webhooks.command('redeliver').argument('<id...>', 'webhook-ids').description('send deliveries once more; the schedule goes on as it was')
  .action(async (ids: string[]) => (await import('./cli/webhooks/redeliver.js')).redeliverWebhooks(ids))
webhooks.command('recover').description('begin the schedule anew for everything that is not delivered; goes on where it was broken off')
  .requiredOption('--since <time>', 'a day, an instant, or how long ago, such as 12h').addOption(user()).addOption(assistant())
  .action(async ({ since, ...options }: Omit<RecoverOptions, 'since'> & { since: string }) => {
    const { recoverWebhooks, sinceTime } = await import('./cli/webhooks/recover.js')
    await recoverWebhooks({ since: sinceTime(since), ...options })
  })
webhooks.command('stats').description('counts, what is due, and whether every call is accounted for').option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./cli/webhooks/stats.js')).showWebhookStats(options))
webhooks.command('resume').description('go on sending with a restored database: calls up to the last marker in the log are not sent again').option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./cli/webhooks/resume.js')).resumeWebhooks(options))

const ids = program.command('ids').description('the sequences that ids come from')
ids.command('check').description('compare them with the log and its last marker; exit status 1 when they are behind').option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./cli/ids.js')).checkIdSequences(options))
ids.command('reseed').description('put them past every id that the log and its last marker know').option('--json', 'for programs')
  .action(async (options: { json?: boolean }) => (await import('./cli/ids.js')).reseedIdSequences(options))

// By name: the classes would load half of the code, only to print a help text.
const refusals = ['BackEndUnreachable', 'DataDirInUseError', 'OtherLeadDigestKey', 'OtherLog', 'QuarantineRefused', 'Rejection', 'ReplayRefused', 'RoleRuns', 'TransferRefused']

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(explain(error))
  process.exitCode = 1
}

/** Refusals say how to mend them; of anything else LOG_LEVEL=debug shows where it came from. */
function explain (error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}\n`
  if (error.name === 'Interrupted') return '' // whoever stopped it knows
  if (error.name === 'BadSettings') return `These settings are not right:\n${error.message.replaceAll(/^/gm, '  ')}\n`
  const isTold = refusals.includes(error.name) || process.env.LOG_LEVEL !== 'debug'
  return isTold ? `ringledger: ${error.message}\n` : `${error.stack ?? error.message}\n`
}

function timeToLive (text: string): string {
  if (!/^[1-9]\d*[smhd]$/.test(text)) throw new InvalidArgumentError('must be a number of s, m, h or d, such as 15m')
  return text
}

function portNumber (text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535) throw new InvalidArgumentError('must be a port from 0 to 65535')
  return port
}

function anyId (text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1')
  return Number(text)
}

function positive (text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a number from 1 to 999999999')
  return Number(text)
}

function wholeNumber (text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('must be a number from 1 to 9999')
  return Number(text)
}

function revisionNumber (text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('must be a revision, such as 0')
  return BigInt(text)
}
