// Every command has `--json`, but for a few with a reason, and makes no stack where there is none. `ringledger person`
// as an operator runs it.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import t, { type Test } from 'tap'
import { commandLine } from '../../src/cli/commands.js'
import { secrets } from '../support/auth/secrets.js'
import { callReport, newLead } from '../support/bodies/bodies.js'
import { dataDir, exampleCatalog, runWarm } from '../support/ringledger.js'
import { newAssistant, testService } from '../support/service.js'

/** Each with what it prints instead. */
const withoutJson: Record<string, string> = {
  start: 'a log, in JSON lines unless stdout is a terminal',
  api: 'a log, as start does',
  projector: 'a log, as start does',
  worker: 'a log, as start does',
  'event-store': 'LISTENING and a port, for what started it',
  completion: 'a script for a shell',
  'person export': 'a JSON document in any case'
}

function * commandsOf (parent: Command, before: string[] = []): Generator<[name: string, Command], void> {
  for (const command of parent.commands) {
    const name = [...before, command.name()]
    const isGroup = command.commands.length > 0 && command.options.length === 0
    if (!isGroup) yield [name.join(' '), command]
    yield * commandsOf(command, name)
  }
}

t.test('every command has --json, or stands here with the reason', async (t) => {
  const all = [...commandsOf(commandLine())]
  t.ok(all.length > 35, `${all.length} commands`)
  const without = all.filter(([, { options }]) => !options.some(({ long }) => long === '--json'))
  t.same(without.map(([name]) => name).sort(), Object.keys(withoutJson).sort())
})

t.test('every number of an option or an argument has a most', (t) => {
  const takers = [...commandsOf(commandLine())].flatMap(([name, { options, registeredArguments }]) =>
    [...options.filter(({ long }) => long !== '--reason'), ...registeredArguments]
      .flatMap(({ parseArg }) => parseArg ? [{ name, parseArg }] : []))
  t.ok(takers.length > 10)
  for (const { name, parseArg } of takers) {
    for (const text of ['9'.repeat(30), '3650000d']) t.throws(() => parseArg(text, undefined), name)
  }
  t.end()
})

const { call, token, urls, parts } = await testService(t)
const folder = dataDir(t)

function report (callId: string, assistant: number): string {
  const file = join(folder, `${callId}.json`)
  writeFileSync(file, JSON.stringify({ call_id: callId, ...callReport(assistant) }))
  return file
}

/** What makes a stack, or asks for none. */
const others = ['start', 'event-store', 'migrate', 'demo', 'doctor', 'completion', 'restore', 'events import']
const required: Record<string, string[]> = {
  token: ['--user', '1'],
  'catalog import': [exampleCatalog],
  'calls complete': [report('c-0', 1)],
  backup: [join(folder, 'backup')],
  'events copy': ['--to', urls.eventStoreUrl],
  'webhooks recover': ['--since', '1h'],
  'webhooks options': ['1'],
  'person export': ['+15550000001', '--user', '1'],
  'person erase': ['+15550000001', '--user', '1'],
  'projections quarantine show': ['leads', 'lead-1'],
  'projections quarantine retry': ['leads', 'lead-1'],
  'projections quarantine skip': ['leads', 'lead-1', '0', '--reason', 'test']
}

async function refusals (): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const [name, { registeredArguments }] of commandsOf(commandLine())) {
    if (others.includes(name)) continue
    const args = required[name] ?? registeredArguments.filter((each) => each.required).map(() => 'leads')
    const program = commandLine()
    found[name] = await program.parseAsync([...name.split(' '), ...args], { from: 'user' })
      .then(() => 'done', (error: Error) => error.message)
  }
  return found
}

t.test('where nothing runs, a command makes no stack, and says where to look', async (t) => {
  process.env.DATA_DIR = join(folder, 'data')
  // A command listens for signals until its process ends.
  for (const each of [process, process.stdout, process.stderr]) each.setMaxListeners(0)
  const found = await refusals()
  t.ok(Object.keys(found).length > 30, 'most commands')
  for (const [name, message] of Object.entries(found)) {
    t.match(message, /^nothing runs here: DATA_DIR \S+data holds no data. Set DATA_DIR to the one/, name)
  }
  t.notOk(existsSync(join(folder, 'data')))
})

const env = { ...secrets, DATA_DIR: folder, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl }

async function json (t: Test, args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runWarm([...args, '--json'], env)
  t.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

t.test('a token is in it with what it is good for, and it is revoked in JSON', async (t) => {
  t.match(await json(t, ['token', '--user', '1', '--role', 'ops']), { token: /^ey/, user: '1', role: 'ops', ttl: '1h' })
  t.same(await json(t, ['token', 'revoke', 'some-jti']), { revoked: true, was_revoked: false })
})

t.test('a catalogue file, a call and the migrations say how far they have come', async (t) => {
  t.match(await json(t, ['catalog', 'import', exampleCatalog]), { file: exampleCatalog, position: /^\d+$/ })
  const { id } = (await call('POST', '/user/assistant', newAssistant)).body.data
  const file = report('c-json', id)
  t.same(await json(t, ['calls', 'complete', file]), { call_id: 'c-json', appended: true })
  writeFileSync(file, JSON.stringify({ call_id: 'c-json', ...callReport(id, { duration: 1 }) }))
  t.match(await runWarm(['calls', 'complete', file], env), { code: 1, stderr: /already reported with another body/ })
  t.match(await json(t, ['migrate']), { newest_migration: /^\d{3}_/ })
})

t.test('events mark and events export say in JSON what they did; an export to stdout cannot', async (t) => {
  t.match(await json(t, ['events', 'mark']), { revision: /^\d+$/ })
  const file = join(folder, 'log.jsonl')
  const exported = await json(t, ['events', 'export', file])
  t.match(exported, { file, events: Number, streams: Number, sha256: /^[0-9a-f]{64}$/ })
  t.match(await runWarm(['events', 'export', '--json'], env), { code: 1, stdout: '', stderr: /--json needs a FILE/ })
})

t.test('work in the background is listed', async (t) => {
  const { pool } = parts
  await pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input, last_error, due_at)
    VALUES (gen_random_uuid(), 'lead-import', '7', 'accepted', '{}', 'connection lost', now() + interval '1 hour')`)
  t.match(await json(t, ['work', 'list']), [{ kind: 'lead-import', user_id: '7', state: 'accepted', turns: 0, last_error: 'connection lost' }])
})

const phone_number = '+15557654321'

t.test('an export is printed, without a worker too', async (t) => {
  const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
  const lead = (await call('POST', '/user/lead', newLead({ phone_number }))).body.data
  const headers = { authorization: `Bearer ${await token('engine', 'engine')}` }
  await call('POST', '/engine/calls/c-1/completed', callReport(assistant, { from: phone_number }), { headers })
  const { code, stdout, stderr } = await runWarm(['person', 'export', '--user', '1', phone_number], env)
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { phone_number, leads: [{ id: lead.id }], calls: [{ call_id: 'c-1' }] })
  t.notMatch(stderr, '5557654321')
})

t.test('person refuses a phone number of the user’s own, and what is no number', async (t) => {
  await call('POST', '/user/phone-number', { phone_number: '+15557654329' })
  const person = (command: string, phone: string) => runWarm(['person', command, '--user', '1', phone], env)
  t.match(await person('erase', '+15557654329'), { code: 1, stderr: /<phone> is one of the phone numbers of user 1, and no person/ })
  t.match(await person('export', '5557654321'), { code: 1, stderr: /E\.164/ })
})

t.test('an erasure ends when it is done, without a worker too', async (t) => {
  const lead = (await call('POST', '/user/lead', newLead({ phone_number: '+15557654322' }))).body.data
  const { code, stdout, stderr } = await runWarm(['person', 'erase', '--user', '1', '+15557654322'], env)
  t.match({ code, stdout }, { code: 0, stdout: /erased/ }, stderr)
  t.notMatch(stdout + stderr, '5557654322')
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404)
  const again = await runWarm(['person', 'erase', '--user', '1', '+15557654322', '--json'], env)
  t.match(JSON.parse(again.stdout), { id: String, status: 'completed' })
})
