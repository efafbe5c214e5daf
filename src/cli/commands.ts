// The command line: every command with its arguments and options, in the order of the help texts.
// What a command does is loaded when it runs, so that a help text is quick.
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { Outcome } from '../features/webhooks/outcome.js'
import { packageVersion } from '../package-root.js'

/** The program with every command. */
export function commandLine (): Command {
  const program = new Command('ringledger')
    .description('Event-sourced backend of a voice-calling product. Settings come from the environment and from .env: see .env.example.')
    .version(packageVersion)
    .showHelpAfterError()
  const groups = [addCatalog, addCalls, addProjections, addEvents, addWebhooks, addWork, addPerson, addSecrets, addIds]
  for (const add of [addRoles, addOthers, addBackups, ...groups]) add(program)
  return program
}

/** The action of a command: a function of the file of its group. */
const work = <Name extends string>(load: () => Promise<Record<Name, (...given: never[]) => unknown>>, name: Name) =>
  async (...given: unknown[]): Promise<void> => { await (await load())[name](...given as never[]) }

const taking = <Value>(isRight: (text: string) => boolean, valueOf: (text: string) => Value, otherwise: string) =>
  (text: string): Value => {
    if (!isRight(text)) throw new InvalidArgumentError(otherwise)
    return valueOf(text)
  }

const like = (pattern: RegExp) => (text: string) => pattern.test(text)
const timeToLive = taking(
  like(/^[1-9]\d{0,4}[smhd]$/), String, 'must be a number from 1 to 99999 of s, m, h or d, such as 15m')
const portNumber = taking((text) => /^\d+$/.test(text) && Number(text) <= 65535, Number, 'must be a port from 0 to 65535')
const anyId = taking(like(/^[1-9]\d{0,14}$/), Number, 'must be a number from 1 to 999999999999999')
const positive = taking(like(/^[1-9]\d{0,8}$/), Number, 'must be a number from 1 to 999999999')
const wholeNumber = taking(like(/^[1-9]\d{0,3}$/), Number, 'must be a number from 1 to 9999')
const revisionNumber = taking(like(/^\d{1,18}$/), BigInt, 'must be a revision, such as 0')

const json = new Option('--json', 'for programs')
const inFlight = new Option('--in-flight <n>', 'most appends under way at once').argParser(wholeNumber).default(256)
const ofUser = new Option('--user <id>', 'only those of this user')
const ofAssistant = new Option('--assistant <id>', 'only those of this assistant').argParser(anyId)

function addRoles (program: Command): void {
  const serve = () => import('./serve.js')
  program.command('start')
    .description('run all roles, with embedded back ends where no URL is set')
    .action(work(serve, 'start'))
  for (const [role, what] of [
    ['api', 'answers HTTP callers'], ['projector', 'builds the read models'], ['worker', 'delivers webhooks']
  ] as const) {
    program.command(role)
      .description(`run the role that ${what}`)
      .action(async () => await (await serve()).serveRole(role))
  }
  const eventStore = () => import('./events.js')
  program.command('event-store')
    .description('run the embedded event store alone; prints LISTENING <port>')
    .option('--port <port>', 'port to listen on; 0 takes any', portNumber, 2113)
    .action(work(eventStore, 'serve'))
    .command('scavenge')
    .description('remove for good what deletes, $tb and newer metadata hide, from the embedded event store')
    .addOption(json)
    .action(work(eventStore, 'scavenge'))
}

function addOthers (program: Command): void {
  program.command('migrate')
    .description('bring the database up to date')
    .addOption(json)
    .action(work(() => import('./database.js'), 'migrate'))
  program.command('demo')
    .description('the main job on real input, start to end, in a temporary DATA_DIR')
    .option('--json', 'for programs: every step, at its end')
    .action(work(() => import('./demo.js'), 'demo'))
  program.command('doctor')
    .description('look at every setting and back end, and say what mends what is wrong')
    .addOption(json)
    .action(work(() => import('./doctor/doctor.js'), 'examine'))
  const token = () => import('./token.js')
  program.command('token')
    .description('make a bearer token, signed with JWT_SECRET, or revoke one; those of JWT_SECRET_PREVIOUS are still taken')
    .option('--user <id>', 'the user it acts for; required')
    .addOption(new Option('--role <role>', 'engine or ops; a caller has no role').choices(['engine', 'ops']))
    .option('--ttl <time>', 'how long it is good for, such as 15m, 1h or 30d', timeToLive, '1h')
    .addOption(json)
    .action(work(token, 'print'))
    .command('revoke')
    .description('end a token before its time: it is refused within a second, also in the console')
    .argument('<jti>', 'the claim jti of the token')
    .addOption(json)
    .action(work(token, 'revoke'))
  program.command('completion')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .description('print what completes commands and options in a shell: eval "$(ringledger completion bash)"')
    .action(work(() => import('./completion.js'), 'print'))
}

function addBackups (program: Command): void {
  const backup = () => import('./backup.js')
  program.command('backup')
    .argument('<file>', 'such as ringledger.backup; its mode is 0600')
    .description('write all that is in DATA_DIR to one file, while `start` runs or not')
    .option('--overwrite', 'replace a file that is there')
    .addOption(json)
    .action(work(backup, 'backUp'))
  program.command('restore')
    .argument('<file>', 'of `ringledger backup`')
    .description('put a backup into DATA_DIR, which must be empty or absent')
    .addOption(json)
    .action(work(backup, 'restore'))
}

function addCatalog (program: Command): void {
  const catalog = () => import('./catalog.js')
  const group = program.command('catalog').description('voices, languages, models, campaigns and phone numbers')
  group.command('import')
    .argument('<file>')
    .description('import a catalogue file; returns when it is projected')
    .addOption(json)
    .action(work(catalog, 'importFile'))
}

function addCalls (program: Command): void {
  const calls = () => import('./calls.js')
  const group = program.command('calls').description('completed calls')
  group.command('complete')
    .argument('<file>')
    .description('report the completed call in a JSON file, by event')
    .addOption(json)
    .action(work(calls, 'complete'))
}

function addProjections (program: Command): void {
  const projections = () => import('./projections.js')
  const group = program.command('projections').description('read models')
  group.command('list')
    .description('where each projection stands')
    .addOption(json)
    .action(work(projections, 'list'))
  group.command('replay')
    .argument('<name>')
    .description(
      'build a projection anew beside the present one, verify it, swap; goes on where an earlier one stopped')
    .option('--dry-run', 'only say what it would do')
    .option('--accept-differences', 'swap although rows differ from those that readers see')
    .addOption(json)
    .action(work(projections, 'replay'))
  group.command('verify')
    .argument('<name>')
    .description('build a projection anew beside the present one, compare all rows, drop it')
    .addOption(json)
    .action(work(projections, 'verify'))
  group.command('rollback')
    .argument('<name>')
    .description('swap the generation before back in, level with the present one')
    .addOption(json)
    .action(work(projections, 'rollback'))
  group.command('drop')
    .argument('<name>')
    .description('drop the generations that were retained')
    .option('--generation <n>', 'only this one, whatever its state; never the one that readers see', positive)
    .addOption(json)
    .action(work(projections, 'drop'))
  group.command('pause')
    .argument('<name>')
    .description('stop feeding a projection: readers see what they saw until it is resumed')
    .addOption(json)
    .action(work(projections, 'pause'))
  group.command('resume')
    .argument('<name>')
    .description('let a paused projection go on where it stood')
    .addOption(json)
    .action(work(projections, 'resume'))
  addQuarantine(group)
}

function addQuarantine (projections: Command): void {
  const quarantine = () => import('./quarantine.js')
  const group = projections.command('quarantine')
    .description('events that a projection cannot take, and what to do about them')
  group.command('list')
    .description('parked events, by projection and generation')
    .argument('[name]', 'of one projection, or `dispatcher`')
    .option('--json', 'for programs: with the skipped events')
    .action(work(quarantine, 'list'))
  group.command('show')
    .description('a parked event, as the log has it (with personal data), and why')
    .argument('<name>')
    .argument('<stream>')
    .argument('[revision]', 'the first parked one when it is not given', revisionNumber)
    .addOption(json)
    .action(work(quarantine, 'show'))
  group.command('retry')
    .description('project the parked events of a stream: all of them, or none')
    .argument('<name>', 'a projection, or `dispatcher`')
    .argument('<stream>')
    .addOption(json)
    .action(work(quarantine, 'retry'))
  group.command('skip')
    .description('give one event up for good, in rebuilds too, and go on with its stream')
    .argument('<name>', 'a projection, or `dispatcher`')
    .argument('<stream>')
    .argument('<revision>', 'of the event', revisionNumber)
    .requiredOption('--reason <text>', 'why, for those who come later')
    .addOption(json)
    .action(work(quarantine, 'skip'))
  group.command('resume')
    .description('let a projection go on that stands still because it refused too many streams')
    .argument('<name>')
    .addOption(json)
    .action(work(quarantine, 'resume'))
}

function addEvents (program: Command): void {
  const events = () => import('./events.js')
  const group = program.command('events')
    .description('the log: copy it to another event store, export it to a file, import it')
  group.command('copy')
    .description('copy everything to another EventStoreDB and verify it; goes on where the target ends')
    .requiredOption('--to <url>', 'where to, such as esdb://host:2113?tls=false')
    .option('--to-ca-file <file>', 'PEM file of the CA that signed the certificates of --to; default: EVENTSTORE_CA_FILE')
    .addOption(inFlight)
    .addOption(json)
    .action(work(events, 'copy'))
  group.command('export')
    .argument('[file]', 'gzip when it ends in .gz; - is stdout', '-')
    .description('write everything as JSON lines')
    .option('--json', 'for programs: what the file holds; stdout has the events themselves')
    .action(work(events, 'exportAll'))
  group.command('import')
    .argument('<file>', 'an export, packed or not; - is stdin')
    .description('bring an export into the present event store and verify it; goes on where that stands')
    .option('--allow-truncated', 'take the whole lines of a file that lacks its end')
    .addOption(inFlight)
    .addOption(json)
    .action(work(events, 'importAll'))
  group.command('adopt')
    .description('with every role stopped: make the consumers follow a log that was moved, ' +
      'or that is older than what they have read')
    .addOption(json)
    .action(work(events, 'adopt'))
  group.command('mark')
    .description('write a marker of how far this database has come, after what cannot be read in the stream of markers')
    .addOption(json)
    .action(work(events, 'mark'))
}

function addWebhooks (program: Command): void {
  const webhooks = () => import('./webhooks.js')
  const group = program.command('webhooks').description('deliveries: what became of them, and sending them again')
  const statuses = ['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped']
  const outcomes: Outcome[] = [
    'delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown'
  ]
  group.command('list')
    .description('deliveries, newest first')
    .addOption(ofUser)
    .addOption(ofAssistant)
    .option('--call <id>', 'only that of this call')
    .addOption(new Option('--status <status>', 'only those with this status').choices(statuses))
    .option('--reason <reason>', 'only those with this reason, such as invalid')
    .addOption(new Option('--outcome <outcome>', 'only those whose last attempt ended so').choices(outcomes))
    .option('--status-code <code>', 'only those whose receiver answered this last', wholeNumber)
    .option('--limit <n>', 'how many', wholeNumber, 50)
    .addOption(json)
    .action(work(webhooks, 'list'))
  group.command('show')
    .argument('<id>', 'its webhook-id')
    .description('a delivery with its newest 50 attempts')
    .addOption(json)
    .action(work(webhooks, 'show'))
  group.command('failing')
    .description('webhooks that fail or are suspended: since when, the last error, and how much waits')
    .option('--limit <n>', 'how many', wholeNumber, 200)
    .addOption(json)
    .action(work(webhooks, 'failing'))
  group.command('redeliver')
    .argument('<id...>', 'webhook-ids')
    .description('send deliveries once more; the schedule goes on as it was')
    .addOption(json)
    .action(work(webhooks, 'redeliver'))
  group.command('recover')
    .description('begin the schedule anew for everything that is not delivered; goes on where it was broken off')
    .requiredOption('--since <time>', 'a day, an instant, or how long ago, such as 12h')
    .addOption(ofUser)
    .addOption(ofAssistant)
    .addOption(json)
    .action(work(webhooks, 'recover'))
  group.command('options')
    .argument('<assistant>', 'its id', anyId)
    .description('show or change the options of the webhook of an assistant')
    .option('--headers <file>', 'a JSON object of names and values, in place of the headers so far; {} for none')
    .option('--max-per-second <n>', 'most attempts of the schedule that start in a second, 100 at most', wholeNumber)
    .option('--clear', 'leave no header and no bound')
    .addOption(json)
    .action(work(webhooks, 'options'))
  group.command('stats')
    .description('counts, what is due, and whether every call is accounted for')
    .addOption(json)
    .action(work(webhooks, 'stats'))
  group.command('resume')
    .description('go on sending with a restored database: calls up to the last marker in the log are not sent again')
    .addOption(json)
    .action(work(webhooks, 'resume'))
}

function addWork (program: Command): void {
  const group = program.command('work').description('imports, exports, erasures and recoveries in the background')
  group.command('list')
    .description('what has not ended, and what failed within a day')
    .option('--limit <n>', 'how many', wholeNumber, 200)
    .addOption(json)
    .action(work(() => import('./work.js'), 'list'))
}

function addPerson (program: Command): void {
  const person = () => import('./person.js')
  const group = program.command('person').description('what is known of a person')
  const user = ['--user <id>', 'whose leads, contacts, calls, deliveries and do-not-call entry'] as const
  group.command('export')
    .argument('<phone>', 'the phone number, in E.164 format')
    .requiredOption(...user)
    .description('print a copy of what is known of a person: one JSON document on stdout')
    .action(work(person, 'exportPerson'))
  group.command('erase')
    .argument('<phone>', 'the phone number, in E.164 format')
    .requiredOption(...user)
    .description('erase a person for good, and end when it is done')
    .addOption(json)
    .action(work(person, 'erase'))
}

function addSecrets (program: Command): void {
  const secrets = () => import('./secrets.js')
  const group = program.command('secrets').description('what SECRET_KEY encrypts and derives')
  group.command('alert')
    .description('print the secret that signs the requests to ALERT_WEBHOOK_URL: ALERT_WEBHOOK_SECRET, or a derived one')
    .addOption(json)
    .action(work(secrets, 'alert'))
  group.command('reseal')
    .description('encrypt with SECRET_KEY what keys of SECRET_KEY_PREVIOUS encrypted, which are not needed afterwards')
    .addOption(json)
    .action(work(secrets, 'reseal'))
}

function addIds (program: Command): void {
  const ids = () => import('./database.js')
  const group = program.command('ids').description('the sequences that ids come from')
  group.command('check')
    .description('compare them with the log and its last marker; exit status 1 when they are behind')
    .addOption(json)
    .action(work(ids, 'check'))
  group.command('reseed')
    .description('put them past every id that the log and its last marker know')
    .addOption(json)
    .action(work(ids, 'reseed'))
}
