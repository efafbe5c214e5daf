// A large import into `ringledger start`, beside another user's commands: every row is done, and those hardly wait.
// What a row costs is in the bench. IMPORT_ROWS tries it with fewer rows.
import t from 'tap'
import { imports, numberOf } from '../../support/scenes/scenes.js'
import { startService } from '../../support/running-service.js'
import type { TestService } from '../../support/service.js'

const rows = Number(process.env.IMPORT_ROWS ?? 100_000)
const before = 500
const mostSlower = 2
t.setTimeout(1_800_000)

const service = await startService(t, { env: { RATE_LIMIT_PER_MINUTE: '0' } })
const call: TestService['call'] = async (method, path, body, { user = '1', headers = {} } = {}) =>
  await service.call(method, path, { token: await service.token(user), body, headers })
const { sendCsv, ended } = imports({ url: service.url, token: service.token, call })

t.test(`${rows} rows are imported while another user creates leads`, async (t) => {
  let made = 0
  const create = async () => {
    const began = performance.now()
    const body = { phone_number: `+44${String(1_000_000 + made++)}`, campaign_id: campaign }
    const { status } = await call('POST', '/user/lead', body, { user: '2' })
    if (status !== 200) t.fail(`a lead of the other user was answered ${status}`)
    return performance.now() - began
  }
  const { body: { data: { id: campaign } } } = await call('POST', '/user/campaign', { name: 'Others' }, { user: '2' })
  for (let n = 0; n < before; n++) await create() // until all of it is compiled
  const alone: number[] = []
  for (let n = 0; n < before; n++) alone.push(await create())

  const lines = Array.from({ length: rows }, (_, n) => `${numberOf(n)},Ada Example,ada@example.com,yearly`)
  const began = performance.now()
  const { body: { data: { id } } } = await sendCsv(`phone_number,customer_name,email,plan\r\n${lines.join('\r\n')}\r\n`)
  const sentMs = performance.now() - began
  let isOver = false
  const ending = ended(id, 1_500_000).finally(() => { isOver = true })
  const beside: number[] = []
  while (!isOver) beside.push(await create())
  t.match(await ending, { status: 'completed', total: rows, processed: rows, created: rows })
  const seconds = (performance.now() - began) / 1_000
  t.comment(`${rows} rows in ${seconds.toFixed(1)} s (${Math.round(rows / seconds)} a second), sent in ${Math.round(sentMs)} ms`)
  t.comment(`p50 of the other user: ${at(alone, 0.5)} ms alone, ${at(beside, 0.5)} ms beside (${beside.length} leads)`)
  t.comment(`p99 of the other user: ${at(alone, 0.99)} ms alone, ${at(beside, 0.99)} ms beside`)
  t.ok(at(beside, 0.99) <= mostSlower * at(alone, 0.99), `p99 of others is at most ${mostSlower} times what it was`)
})

t.test('a file of more than 100,000 leads is refused', async (t) => {
  t.equal((await sendCsv(`phone_number\n${`${numberOf(1)}\n`.repeat(100_001)}`)).status, 422)
})

const at = (times: readonly number[], quantile: number) =>
  Math.round(times.toSorted((one, other) => one - other)[Math.floor(times.length * quantile)] ?? 0)
