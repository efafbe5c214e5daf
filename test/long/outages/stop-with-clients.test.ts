// `start` and `event-store` end within 20 s and with status 0, whatever their clients do.
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { serveLog, scratchPostgres } from '../../support/back-ends/back-ends.js'
import { eventually } from '../../support/eventually.js'
import { listeningUrl, dataDir, ringledger, type Ringledger } from '../../support/ringledger.js'
import { token } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'

const endsWithinMs = 20_000

async function endsInTime (t: Test, { signal, ended, processes, stderr }: Ringledger): Promise<void> {
  const askedAt = performance.now()
  signal('SIGTERM')
  t.equal((await ended).code, 0, stderr())
  const tookMs = performance.now() - askedAt
  t.ok(tookMs < endsWithinMs, `took ${Math.round(tookMs)} ms`)
  t.strictSame(processes(), [])
}

t.test('start waits for a client that reads late, longer than for a back end that is silent', async (t) => {
  const { url: DATABASE_URL } = await scratchPostgres(t, 'service')
  const store = await serveLog({ databaseUrl: DATABASE_URL })
  t.teardown(store.close)
  const pool = openPool(DATABASE_URL, { applicationName: 'test', onError: () => {} })
  await pool.query(`
    INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
      created_at, updated_at)
    SELECT 1000000 + n, NULL, 0, '1', 2, '+1666' || n, json_build_object('customer_name', repeat('x', 4000), 'email', ''),
      'created', 'lead-x-' || n, now(), now() FROM generate_series(1, 4000) n`)
  await pool.end()
  const process = ringledger(t, ['start'], {
    ...secrets, DATABASE_URL, EVENTSTORE_URL: store.url, PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: dataDir(t)
  })
  const url = await process.says(listeningUrl)
  const authorization = `Bearer ${await token(secrets.JWT_SECRET, '1')}`
  const answer = await fetch(`${url}/user/leads/export?format=ndjson&campaign_id=2`, { headers: { authorization } })
  const ends = endsInTime(t, process)
  await delay(5_200) // it has 10 s in all
  t.equal((await answer.text()).trim().split('\n').length, 4_000)
  await ends
})

t.test('event-store ends in time with silent connections', async (t) => {
  const process = ringledger(t, ['event-store', '--port', '0'], { DATA_DIR: dataDir(t) })
  const port = Number(await process.says((stdout) => /^LISTENING (\d+)$/m.exec(stdout)?.[1]))
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  const beginnings = ['', preface, `${preface}\0\0\0\x04\0\0\0\0\0`]
  await Promise.all(beginnings.map(async (begun) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.write(begun)
    await eventually(() => socket.readyState === 'open')
  }))
  await endsInTime(t, process)
})
