// Operators act on projections over HTTP: each action runs in a process of its own, and says how far it is. A projector
// of a new release rebuilds what the former one has folded, if it may.
import pino from 'pino'
import t, { type Test } from 'tap'
import { assistants } from '../../projections/assistants.js'
import { leads } from '../../projections/leads.js'
import { openActions } from '../../src/services/actions.js'
import { projections } from '../../projections/index.js'
import { beginAction, findAction, newestActions } from '../../projections/engine/actions.js'
import { generationsOf } from '../../projections/engine/generations.js'
import { eventually } from '../support/eventually.js'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t)
const { call, parts: { pool } } = service
const authorization = `Bearer ${await service.token('operator', 'ops')}`
const ops = (method: string, path: string, body?: unknown) =>
  call(method, `/ops/api${path}`, body, { headers: { authorization } })
await call('POST', '/user/assistant', newAssistant)

const ended = (id: string) => eventually(async () => {
  const { body: { data } } = await ops('GET', `/actions/${id}`)
  return data.state !== 'running' && data
}, 60_000)

async function done (t: Test, action: string, body?: object) {
  const begun = await ops('POST', `/projections/assistants/${action}`, body)
  t.equal(begun.status, 202, JSON.stringify(begun.body))
  return await ended(begun.body.data.id)
}

t.test('operators see how far each projection and the dispatcher are', async (t) => {
  const { data } = (await ops('GET', '/projections')).body
  const names = projections.map(({ name }) => name)
  t.same(data.map(({ name }: { name: string }) => name), [...names, 'dispatcher'])
  t.match(data[0], {
    state: 'running',
    position: /^\d+$/,
    lag_events: Number,
    lag_is_exact: true,
    lag_seconds: Number,
    rate: Number,
    parked_streams: 0,
    generations: [{ generation: 1, state: 'active' }],
    action: null
  })
  t.same(data.at(-1).offers, [], 'nothing is done to the dispatcher')
})

/** Which actions on assistants are offered, and why the others are not. */
async function offered () {
  const { data } = (await ops('GET', '/projections')).body
  const { offers }: { offers: { action: string, why_not: string | null }[] } = data[0]
  return {
    can: offers.flatMap(({ action, why_not: why }) => why === null ? action : []),
    why: Object.fromEntries(offers.map(({ action, why_not: why }) => [action, why]))
  }
}

t.test('the API offers each action that can succeed, and says why another cannot', async (t) => {
  const { can, why } = await offered()
  t.same(can, ['replay', 'verify', 'pause'])
  t.match(why, {
    rollback: 'There is no retained generation of assistants to go back to.',
    drop: 'There is no retained generation of assistants.',
    resume: /^assistants is not paused/
  })
})

t.test('a replay says when it is done, and can be rolled back or dropped then', async (t) => {
  t.match(await done(t, 'replay'), {
    action: 'replay', projection: 'assistants', state: 'done', progress: 1, message: /^Replayed assistants in .* generation 2 now/
  })
  await eventually(async () => (await offered()).can.join() === 'replay,verify,rollback,drop,pause')
})

t.test('a verification names rows that differ by key and column, without their values', async (t) => {
  const nameAll = (name: string) => pool.query('UPDATE read_assistants_g2.assistants SET name = $1', [name])
  const { rows: [{ name }] } = await pool.query('SELECT name FROM read_assistants_g2.assistants')
  await nameAll('Ada Hidden')
  const { state, message } = await done(t, 'verify')
  t.match([state, message], ['failed', /^ *assistants 1: name$/m])
  t.notMatch(message, 'Hidden')
  await nameAll(name)
})

t.test('nobody feeds a paused projection until it is resumed, and readers see what they saw', async (t) => {
  await pool.query("INSERT INTO ledger.paused_projections (projection) VALUES ('assistants')") // as the command line does
  const standing = async () => (await ops('GET', '/projections')).body.data[0]
  await eventually(async () => (await standing()).generations[1].owner === null)
  const { status, headers } = await call('POST', '/user/assistant', newAssistant)
  t.equal(status, 201)
  t.equal(headers.get('x-read-model'), 'pending')
  const behind = await eventually(async () => {
    const found = await standing()
    return found.lag_events === 1 && found
  })
  t.match(behind, { state: 'paused', lag_is_exact: true })
  t.match((await ops('GET', '/../../health/ready')).body.checks, { 'projection assistants': /^paused since / })
  t.match(await offered(), { can: ['verify', 'drop', 'resume'], why: { replay: 'assistants is paused: resume it first.' } })
  t.match(await ops('POST', '/projections/assistants/replay'), { status: 409, body: { message: 'assistants is paused: resume it first.' } })
  await pool.query('DELETE FROM ledger.paused_projections') // as `projections resume` does
  await eventually(async () => (await standing()).lag_events === 0)
})

await call('POST', '/user/lead', { phone_number: '+15551230100', campaign_id: 1 })
const states = async () => (await generationsOf(pool, leads))
  .map(({ generation, state, codeVersion }) => [generation, state, codeVersion])
const rebuilds = async () => (await newestActions(pool, 20)).filter(({ projection }) => projection === 'leads')
const foldedBy = (version: number) =>
  pool.query(
    "UPDATE ledger.generations SET code_version = $1 WHERE projection = 'leads' AND state = 'active'", [version]
  )

t.test('a projector leaves what a later version has folded, and without PROJECTION_REBUILD=auto everything', async (t) => {
  await foldedBy(leads.version - 1)
  const manual = await service.start(['projector'])
  await foldedBy(leads.version + 1)
  const late = await service.start(['projector'], { PROJECTION_REBUILD: 'auto' })
  await Promise.all([manual.stop(), late.stop()])
  t.same(await states(), [[1, 'active', leads.version + 1]])
  t.same(await rebuilds(), [])
})

t.test('one of two projectors replays what an earlier version has folded, and readers see it', async (t) => {
  await foldedBy(leads.version - 1)
  await Promise.all([1, 2].map(() => service.start(['projector'], { PROJECTION_REBUILD: 'auto' })))
  await eventually(
    async () => (await states()).some(([generation, state]) => generation === 2 && state === 'active'), 60_000
  )
  t.same(await states(), [[1, 'retained', leads.version - 1], [2, 'active', leads.version]])
  await eventually(async () => (await rebuilds()).every(({ state }) => state === 'done'))
  const [only, ...more] = await rebuilds()
  t.match(only, { action: 'replay', message: /^Replayed leads/ })
  t.same(more, [])
  const { body } = await call('GET', '/user/leads')
  t.equal(body.data.length, 1)
})

t.test('while one action runs on a projection another is refused', async (t) => {
  const id = '00000000-0000-4000-8000-000000000001'
  t.ok(await beginAction(pool, { id, action: 'replay', projection: 'assistants' }))
  const refused = await ops('POST', '/projections/assistants/verify')
  t.equal(refused.status, 409)
  t.match(refused.body.message, /Another action runs on assistants/)
  t.ok(await beginAction(pool, { id: id.replace('8', '9'), action: 'verify', projection: 'leads' }), 'but on this one none')
  await pool.query("UPDATE ledger.projection_actions SET told_at = now() - interval '31 seconds' WHERE id = $1", [id])
  t.match(await findAction(pool, id), { state: 'failed', message: /has ended without a word/ }, 'a process that is silent is dead')
})

t.test('an unknown projection, action or id is a 404', async (t) => {
  for (const path of ['/projections/nothing/replay', `/projections/${assistants.name}/explode`]) {
    t.equal((await ops('POST', path)).status, 404, path)
  }
  t.equal((await ops('GET', '/actions/00000000-0000-4000-8000-00000000000f')).status, 404)
})

t.test('an action whose process cannot begin, or would begin while the service stops, has failed', async (t) => {
  const actions = openActions({ ...service, pool, log: pino({ level: 'silent' }) })
  const node = process.execPath
  process.execPath = '/nowhere'
  const unable = await actions.start('verify', 'calls', {}).finally(() => { process.execPath = node })
  await eventually(async () => (await findAction(pool, unable ?? ''))?.state === 'failed')
  t.match(await findAction(pool, unable ?? ''), { message: /^The process that did it did not begin/ })
  const starting = actions.start('verify', 'calls', {})
  await actions.stop()
  t.match(await findAction(pool, await starting ?? ''), { state: 'failed', message: /^The service stopped before it began/ })
})
