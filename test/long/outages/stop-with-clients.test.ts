// Every role ends within 20 s and with status 0, whatever its clients do.
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { serveLog, scratchPostgres } from '../../support/back-ends/back-ends.js'
import { eventually } from '../../support/eventually.js'
import { openConnections } from '../../support/http/open-connections.js'
import { listeningUrl, dataDir, ringledger, type Environment, type Ringledger } from '../../support/ringledger.js'
import { token } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'

const endsWithinMs = 20_000

const { url: databaseUrl } = await scratchPostgres(t, 'service')
const store = await serveLog({ databaseUrl })
t.teardown(store.close)
const pool = openPool(databaseUrl, { applicationName: 'test', onError: () => {} })
t.teardown(() => pool.end())
await pool.query(`
  INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
    created_at, updated_at)
  SELECT 1000000 + n, NULL, 0, '1', 2, '+1666' || n, json_build_object('customer_name', repeat('x', 4000), 'email', ''),
    'created', 'lead-x-' || n, now(), now() FROM generate_series(1, 4000) n`)
const env: Environment = {
  ...secrets, DATABASE_URL: databaseUrl, EVENTSTORE_URL: store.url, PORT: '0', LOG_LEVEL: 'silent'
}
const user = await token(secrets.JWT_SECRET, '1')

const large = '/user/leads/export?format=ndjson&campaign_id=2'
const ofApi = { small: '/user/assistants', large, json: '/user/lead', csv: '/user/leads/import?campaign_id=1' }
const ofOthers = { small: '/health/live', large: '/metrics', json: '/user/lead', csv: '/user/leads/import' }

/** A client that asks for much and never reads. */
function neverReads (t: Test, url: string): void {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {}).pause()
  t.teardown(() => socket.destroy())
  socket.write(`GET ${large} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user}\r\n\r\n`)
}

async function endsInTime (t: Test, { signal, ended, processes, stderr }: Ringledger): Promise<void> {
  const askedAt = performance.now()
  signal('SIGTERM')
  t.equal((await ended).code, 0, stderr())
  const tookMs = performance.now() - askedAt
  t.ok(tookMs < endsWithinMs, `took ${Math.round(tookMs)} ms`)
  t.strictSame(processes(), [])
}

async function stopsWith (t: Test, process: Ringledger, url: string, paths: typeof ofApi) {
  const connections = await openConnections(t, { url, token: user, ...paths })
  neverReads(t, url)
  const ends = endsInTime(t, process)
  await process.says((stdout) => /Draining after SIGTERM/.exec(stdout)?.[0])
  for (const { onStop } of connections) onStop()
  for (const { kind, ended } of connections) t.strictSame(await ended, { missing: 0, bytes: 0 }, kind)
  await ends
}

for (const [role, paths] of Object.entries({ start: ofApi, api: ofApi, projector: ofOthers, worker: ofOthers })) {
  t.test(`${role} ends in time while all kinds of connections are open`, async (t) => {
    const process = ringledger(t, [role], { ...env, DATA_DIR: dataDir(t) })
    await stopsWith(t, process, await process.says(listeningUrl), paths)
  })
}

t.test('start waits for a client that reads late, longer than for a back end that is silent', async (t) => {
  const process = ringledger(t, ['start'], { ...env, DATA_DIR: dataDir(t) })
  const url = await process.says(listeningUrl)
  const answer = await fetch(`${url}${large}`, { headers: { authorization: `Bearer ${user}` } })
  const ends = endsInTime(t, process)
  await delay(5_200) // it has 10 s in all
  t.equal((await answer.text()).trim().split('\n').length, 4_000)
  await ends
})

t.test('event-store ends in time with silent and half-said connections', async (t) => {
  const process = ringledger(t, ['event-store', '--port', '0'], { DATA_DIR: dataDir(t) })
  const port = Number(await process.says((stdout) => /^LISTENING (\d+)$/m.exec(stdout)?.[1]))
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  const beginnings = ['', 'PRI', preface, `${preface}\0\0\0\x04\0\0\0\0\0`, 'GET /health/live HTTP/1.1\r\nHost: ']
  await Promise.all(beginnings.map(async (begun) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.write(begun)
    await eventually(() => socket.readyState === 'open')
  }))
  await endsInTime(t, process)
})
