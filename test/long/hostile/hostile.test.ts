// A good user beside a stranger with 200 connections, another user's eight uploads, and readers that do not read.
import { connect } from 'node:net'
import t from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { scratchPostgres, serveLog } from '../../support/back-ends/back-ends.js'
import { listeningUrl, dataDir, ringledger } from '../../support/ringledger.js'
import { caller, token } from '../../support/running-service.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { secrets } from '../../support/auth/secrets.js'

const [times, rounds] = [1_000, 3]
const file = Buffer.from(`phone_number,plan\n${Array.from({ length: 60_000 }, (_, n) => `${numberOf(n)},yearly\n`).join('')}`)
const readers = ['hostile-1', 'hostile-2', 'hostile-3']
const user = (name: string) => token(secrets.JWT_SECRET, name)

t.test('no request fails, and the p99 stays under twice what it is alone', async (t) => {
  const { url: databaseUrl } = await scratchPostgres(t, 'service')
  const store = await serveLog({ databaseUrl })
  t.teardown(store.close)
  const pool = openPool(databaseUrl, { applicationName: 'test', onError: () => {} })
  t.teardown(() => pool.end())
  const env = { ...secrets, DATABASE_URL: databaseUrl, EVENTSTORE_URL: store.url, PORT: '0', RATE_LIMIT_PER_MINUTE: '0' }
  const start = async (role: string) =>
    await ringledger(t, [role], { ...env, LOG_LEVEL: 'warn', DATA_DIR: dataDir(t) }).says(listeningUrl)
  const [url] = await Promise.all([start('api'), start('projector')])
  const call = caller(url)
  const campaignOf = async (name: string): Promise<number> =>
    (await call('POST', '/user/campaign', { token: await user(name), body: { name: 'Autumn' } })).body.data.id
  await pool.query(`
    INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
      created_at, updated_at)
    SELECT 2000000 + 10000 * place + n, NULL, 0, user_id, 2, '+1666' || n,
      json_build_object('customer_name', repeat('x', 4000), 'email', ''), 'created', 'lead-' || user_id || n, now(), now()
    FROM unnest($1::text[]) WITH ORDINALITY AS reader (user_id, place), generate_series(1, 2500) n`, [readers])

  const campaign = await campaignOf('good')
  let count = 0
  /** The good user creates leads, one after the other. @returns their p99 */
  const p99 = async () => {
    const good = await user('good')
    const took: number[] = []
    while (took.length < times) {
      const began = performance.now()
      const body = { phone_number: `+1777${String(count++).padStart(7, '0')}`, campaign_id: campaign }
      const { status } = await call('POST', '/user/lead', { token: good, body })
      took.push(performance.now() - began)
      if (status !== 200) t.fail(`a lead was answered ${status}`)
    }
    return took.sort((one, other) => one - other)[Math.floor(times * 0.99)] ?? 0
  }

  const { hostname, port } = new URL(url)
  const open = (...head: string[]) => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.pause().write(`${head.join('\r\n')}\r\n\r\n`)
    return socket
  }
  const upload = async (name: string, to: number) => {
    const headers = { authorization: `Bearer ${await user(name)}`, 'content-type': 'text/csv' }
    const answer = await fetch(`${url}/user/leads/import?campaign_id=${to}`, { method: 'POST', headers, body: file })
      .catch(() => undefined) // refused while it still sends
    await answer?.arrayBuffer()
    return answer?.status ?? 429
  }

  const found: Array<{ alone: number, beside: number }> = []
  for (let round = 0; round < rounds; round++) {
    const alone = await p99()
    const sockets = Array.from({ length: 200 }, () =>
      open('POST /user/lead HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked'))
    for (const reader of [...readers, ...readers]) {
      sockets.push(open('GET /user/leads/export HTTP/1.1', 'Host: x', `Authorization: Bearer ${await user(reader)}`))
    }
    const to = await campaignOf(`heavy-${round}`) // imports of the earlier rounds may still run
    const uploads = Promise.all(Array.from({ length: 8 }, () => upload(`heavy-${round}`, to)))
    found.push({ alone, beside: await p99() })
    for (const socket of sockets) socket.destroy()
    t.ok((await uploads).every((status) => [202, 429, 408].includes(status)), String(await uploads))
  }
  t.comment(JSON.stringify(found))
  const median = (values: number[]) => values.sort((one, other) => one - other)[values.length >> 1] ?? 0
  const [alone, beside] = [median(found.map(({ alone }) => alone)), median(found.map(({ beside }) => beside))]
  t.ok(beside < 2 * alone, `${alone} ms alone, ${beside} ms beside the others`)
})
