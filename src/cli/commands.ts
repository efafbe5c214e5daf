// The command line: every command with its arguments and options, in the order of the help texts. Code of a command is
// loaded only when it runs, so help texts are quick.
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { Outcome } from '../features/webhooks/outcome.js'
import { packageVersion } from '../package-root.js'

export function commandLine (): Command {
  const program = new Command('ringledger')
    .description('Event-sourced backend of a voice-calling product. Settings come from the environment and from .env: see .env.example.')
    .version(packageVersion)
    .showHelpAfterError()
  for (const add of [addRoles, addOthers, addProjections, addEvents, addWebhooks, addRest]) add(program)
  return program
}

/** Makes the action of a command from a function in the file of its group. */
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
const skipReason = taking((text) => text.trim() !== '' && text.length <= 200, String, 'must be a text of 1 to 200 characters')
const portNumber = taking((text) => /^\d+$/.test(text) && Number(text) <= 65535, Number, 'must be a port from 0 to 65535')
const anyId = taking(like(/^[1-9]\d{0,14}$/), Number, 'must be a number from 1 to 999999999999999')
const positive = taking(like(/^[1-9]\d{0,8}$/), Number, 'must be a number from 1 to 999999999')
const wholeNumber = taking(like(/^[1-9]\d{0,3}$/), Number, 'must be a number from 1 to 9999')
const revisionNumber = taking(like(/^\d{1,18}$/), BigInt, 'must be a revision, such as 0')

const json = new Option('--json', 'for programs')
const inFlight = new Option('--in-flight <n>', 'most appends under way at once').argParser(wholeNumber).default(256)
const ofUser = new Option('--user <id>', 'only those of this user')
const ofAssistant = new Option('--assistant <id>', 'only those of this assistant').argParser(anyId)
const limit = (most: number) => new Option('--limit <n>', 'how many').argParser(wholeNumber).default(most)

type Action = (...given: unknown[]) => Promise<void>

/** Adds a command with its arguments and options, and `--json` unless they include it. */
function add (
  to: Command, name: string, description: string, action: Action, ...parts: Array<Argument | Option>
): Command {
  const command = to.command(name).description(description).action(action)
  for (const part of parts) {
    if (part instanceof Argument) command.addArgument(part)
    else command.addOption(part)
  }
  return command.options.some(({ long }) => long === '--json') ? command : command.addOption(json)
}

const jsonFor = (what: string) => new Option('--json', `for programs: ${what}`)
const file = (description?: string) => new Argument('<file>', description)
const named = (description?: string) => new Argument('<name>', description)

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
  const alone = program.command('event-store')
    .description('run the embedded event store alone; prints LISTENING <port>')
    .option('--port <port>', 'port to listen on; 0 takes any', portNumber, 2113)
    .action(work(eventStore, 'serve'))
  add(alone, 'scavenge', 'remove for good what deletes, $tb and newer metadata hide, from the embedded event store',
    work(eventStore, 'scavenge'))
}

function addOthers (program: Command): void {
  add(program, 'migrate', 'bring the database up to date', work(() => import('./database.js'), 'migrate'))
  add(program, 'demo', 'the main job on real input, start to end, in a temporary DATA_DIR',
    work(() => import('./demo.js'), 'demo'), jsonFor('every step, at its end'))
  add(program, 'doctor', 'look at every setting and back end, and say what mends what is wrong',
    work(() => import('./doctor/doctor.js'), 'examine'))
  const token = () => import('./token.js')
  const tokens = add(program, 'token',
    'make a bearer token, signed with JWT_SECRET, or revoke one; those of JWT_SECRET_PREVIOUS are still taken',
    work(token, 'print'),
    new Option('--user <id>', 'the user it acts for; required'),
    new Option('--role <role>', 'engine or ops; a caller has no role').choices(['engine', 'ops']),
    new Option('--ttl <time>', 'how long it is good for, such as 15m, 1h or 30d').argParser(timeToLive).default('1h'))
  add(tokens, 'revoke', 'end a token before its time: it is refused within a second, also in the console',
    work(token, 'revoke'), new Argument('<jti>', 'the claim jti of the token'))
  program.command('completion')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .description('print what completes commands and options in a shell: eval "$(ringledger completion bash)"')
    .action(work(() => import('./completion.js'), 'print'))
  const backup = () => import('./backup.js')
  add(program, 'backup', 'write all that is in DATA_DIR to one file, while `start` runs or not', work(backup, 'backUp'),
    file('such as ringledger.backup; its mode is 0600'), new Option('--overwrite', 'replace a file that is there'))
  add(program, 'restore', 'put a backup into DATA_DIR, which must be empty or absent', work(backup, 'restore'),
    file('of `ringledger backup`'))
  const catalog = program.command('catalog').description('voices, languages, models, campaigns and phone numbers')
  add(catalog, 'import', 'import a catalogue file; returns when it is projected',
    work(() => import('./catalog.js'), 'importFile'), file())
  const calls = program.command('calls').description('completed calls')
  add(calls, 'complete', 'report the completed call in a JSON file, by event',
    work(() => import('./calls.js'), 'complete'), file())
}

function addProjections (program: Command): void {
  const projections = () => import('./projections.js')
  const group = program.command('projections').description('read models')
  add(group, 'list', 'where each projection stands', work(projections, 'list'))
  add(group, 'replay', 'build a projection anew beside the present one, verify it, swap; goes on where an earlier one stopped',
    work(projections, 'replay'), named(), new Option('--dry-run', 'only say what it would do'),
    new Option('--accept-differences', 'swap although rows differ from those that readers see'))
  add(group, 'verify', 'build a projection anew beside the present one, compare all rows, drop it',
    work(projections, 'verify'), named())
  add(group, 'rollback', 'swap the generation before back in, level with the present one',
    work(projections, 'rollback'), named())
  add(group, 'drop', 'drop the generations that were retained', work(projections, 'drop'), named(),
    new Option('--generation <n>', 'only this one, whatever its state; never the one that readers see').argParser(positive))
  add(group, 'pause', 'stop feeding a projection: readers see what they saw until it is resumed',
    work(projections, 'pause'), named())
  add(group, 'resume', 'let a paused projection go on where it stood', work(projections, 'resume'), named())

  const quarantine = () => import('./quarantine.js')
  const parked = group.command('quarantine')
    .description('events that a projection cannot take, and what to do about them')
  const [ofAny, stream] = [named('a projection, or `dispatcher`'), new Argument('<stream>')]
  add(parked, 'list', 'parked events, by projection and generation', work(quarantine, 'list'),
    new Argument('[name]', 'of one projection, or `dispatcher`'), jsonFor('with the skipped events'))
  add(parked, 'show', 'a parked event, as the log has it (with personal data), and why', work(quarantine, 'show'),
    named(), stream, new Argument('[revision]', 'the first parked one when it is not given').argParser(revisionNumber))
  add(parked, 'retry', 'project the parked events of a stream: all of them, or none', work(quarantine, 'retry'),
    ofAny, stream)
  add(parked, 'skip', 'give one event up for good, in rebuilds too, and go on with its stream', work(quarantine, 'skip'),
    ofAny, stream, new Argument('<revision>', 'of the event').argParser(revisionNumber),
    new Option('--reason <text>', 'why, for those who come later').makeOptionMandatory().argParser(skipReason))
  add(parked, 'resume', 'let a projection go on that stands still because it refused too many streams',
    work(quarantine, 'resume'), named())
}

function addEvents (program: Command): void {
  const events = () => import('./events.js')
  const group = program.command('events')
    .description('the log: copy it to another event store, export it to a file, import it')
  add(group, 'copy', 'copy everything to another EventStoreDB and verify it; goes on where the target ends',
    work(events, 'copy'),
    new Option('--to <url>', 'where to, such as esdb://host:2113?tls=false').makeOptionMandatory(),
    new Option('--to-ca-file <file>',
      'PEM file of the CA that signed the certificates of --to; default: EVENTSTORE_CA_FILE'),
    inFlight)
  add(group, 'export', 'write everything as JSON lines', work(events, 'exportAll'),
    new Argument('[file]', 'gzip when it ends in .gz; - is stdout').default('-'),
    jsonFor('what the file holds; stdout has the events themselves'))
  add(group, 'import', 'bring an export into the present event store and verify it; goes on where that stands',
    work(events, 'importAll'), file('an export, packed or not; - is stdin'),
    new Option('--allow-truncated', 'take the whole lines of a file that lacks its end'), inFlight)
  add(group, 'adopt', 'with every role stopped: make the consumers follow a log that was moved, ' +
    'or that is older than what they have read', work(events, 'adopt'))
  add(group, 'mark', 'write a marker of how far this database has come, after what cannot be read in the stream of markers',
    work(events, 'mark'))
}

function addWebhooks (program: Command): void {
  const webhooks = () => import('./webhooks.js')
  const group = program.command('webhooks').description('deliveries: what became of them, and sending them again')
  const statuses = ['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped']
  const outcomes: Outcome[] = [
    'delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown'
  ]
  add(group, 'list', 'deliveries, newest first', work(webhooks, 'list'), ofUser, ofAssistant,
    new Option('--call <id>', 'only that of this call'),
    new Option('--status <status>', 'only those with this status').choices(statuses),
    new Option('--reason <reason>', 'only those with this reason, such as invalid'),
    new Option('--outcome <outcome>', 'only those whose last attempt ended so').choices(outcomes),
    new Option('--status-code <code>', 'only those whose receiver answered this last')
      .argParser(taking(like(/^[1-9]\d\d$/), Number, 'must be a number from 100 to 999')),
    limit(50))
  add(group, 'show', 'a delivery with its newest 50 attempts', work(webhooks, 'show'),
    new Argument('<id>', 'its webhook-id'))
  add(group, 'failing', 'webhooks that fail or are suspended: since when, the last error, and how much waits',
    work(webhooks, 'failing'), limit(200))
  add(group, 'redeliver', 'send deliveries once more; the schedule goes on as it was', work(webhooks, 'redeliver'),
    new Argument('<id...>', 'webhook-ids'))
  add(group, 'recover', 'begin the schedule anew for everything that is not delivered; goes on where it was broken off',
    work(webhooks, 'recover'),
    new Option('--since <time>', 'a day, an instant, or how long ago, such as 12h').makeOptionMandatory(),
    ofUser, ofAssistant)
  add(group, 'options', 'show or change the options of the webhook of an assistant', work(webhooks, 'options'),
    new Argument('<assistant>', 'its id').argParser(anyId),
    new Option('--headers <file>', 'a JSON object of names and values, in place of the headers so far; {} for none'),
    new Option('--max-per-second <n>', 'most attempts of the schedule that start in a second, 100 at most')
      .argParser(taking(like(/^\d{1,4}$/), Number, 'must be a number from 1 to 100')),
    new Option('--clear', 'leave no header and no bound'))
  add(group, 'stats', 'counts, what is due, and whether every call is accounted for', work(webhooks, 'stats'))
  add(group, 'resume', 'go on sending with a restored database: calls up to the last marker in the log are not sent again',
    work(webhooks, 'resume'))
}

function addRest (program: Command): void {
  const background = program.command('work').description('imports, exports, erasures and recoveries in the background')
  add(background, 'list', 'what has not ended, and what failed within a day', work(() => import('./work.js'), 'list'),
    limit(200))
  const person = () => import('./person.js')
  const persons = program.command('person').description('what is known of a person')
  const phone = new Argument('<phone>', 'the phone number, in E.164 format')
  const user = new Option('--user <id>', 'whose leads, contacts, calls, deliveries and do-not-call entry').makeOptionMandatory()
  persons.command('export')
    .description('print a copy of what is known of a person: one JSON document on stdout')
    .addArgument(phone)
    .addOption(user)
    .action(work(person, 'exportPerson'))
  add(persons, 'erase', 'erase a person for good, and end when it is done', work(person, 'erase'), phone, user)
  const secrets = () => import('./secrets.js')
  const sealed = program.command('secrets').description('what SECRET_KEY encrypts and derives')
  add(sealed, 'alert', 'print the secret that signs the requests to ALERT_WEBHOOK_URL: ALERT_WEBHOOK_SECRET, or a derived one',
    work(secrets, 'alert'))
  add(sealed, 'reseal', 'encrypt with SECRET_KEY what keys of SECRET_KEY_PREVIOUS encrypted, which are not needed afterwards',
    work(secrets, 'reseal'))
  const database = () => import('./database.js')
  const ids = program.command('ids').description('the sequences that ids come from')
  add(ids, 'check', 'compare them with the log and its last marker; exit status 1 when they are behind',
    work(database, 'check'))
  add(ids, 'reseed', 'put them past every id that the log and its last marker know', work(database, 'reseed'))
}
