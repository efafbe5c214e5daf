// Large imports into `ringledger start`, beside another user's commands: every row is done, and those hardly wait.
// What a row costs is in the bench. IMPORT_ROWS tries it with fewer rows.
import t from 'tap'
import { imports, numberOf } from '../../support/scenes/scenes.js'
import { startService } from '../../support/running-service.js'
import type { TestService } from '../../support/service.js'

const rows = Number(process.env.IMPORT_ROWS ?? 40_000)
const before = 500
/** Each is compared with the time before and after it: what else the machine does falls on both. */
const parts = 4
/** Two shared cores make it two to four times. Behind a part of 500 rows others would wait a hundred times as long. */
const mostSlower = 10
t.setTimeout(1_200_000)

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
  const whileAlone = async () => {
    const times: number[] = []
    for (let n = 0; n < before; n++) times.push(await create())
    return times
  }
  const linesOf = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => `${numberOf(from + n)},Ada Example,ada@example.com,yearly\r\n`).join('')
  const head = 'phone_number,customer_name,email,plan\r\n'
  const { body: { data: { id: first } } } = await sendCsv(head + linesOf(rows, 500))
  await ended(first, 60_000)
  await whileAlone() // until all of it is compiled
  const alone = [await whileAlone()]
  const beside: number[][] = []
  for (let part = 0; part < parts; part++) {
    const count = rows / parts
    const began = performance.now()
    const { body: { data: { id } } } = await sendCsv(head + linesOf(part * count, count))
    const sentMs = performance.now() - began
    let isOver = false
    const ending = ended(id, 1_500_000 / parts).finally(() => { isOver = true })
    const times: number[] = []
    while (!isOver) times.push(await create())
    t.match(await ending, { status: 'completed', total: count, processed: count, created: count })
    const seconds = (performance.now() - began) / 1_000
    beside.push(times)
    alone.push(await whileAlone())
    t.comment(`${count} rows in ${seconds.toFixed(1)} s (${Math.round(count / seconds)} a second), sent in ${Math.round(sentMs)} ms`)
  }
  const ratios = beside.map((times, part) => {
    const neighbours = [alone[part] ?? [], alone[part + 1] ?? []].flat()
    t.comment(`p50 of the other user: ${at(neighbours, 0.5)} ms alone, ${at(times, 0.5)} ms beside (${times.length} leads)`)
    t.comment(`p99 of the other user: ${at(neighbours, 0.99)} ms alone, ${at(times, 0.99)} ms beside`)
    return at(times, 0.99) / at(neighbours, 0.99)
  })
  // One part may have had luck, and others the rest of the machine.
  const [, ratio = Infinity] = ratios.toSorted((one, other) => one - other)
  t.ok(ratio <= mostSlower, `p99 of others is at most ${mostSlower} times what it is alone: ${ratios.map((each) => each.toFixed(2)).join(', ')}`)
})

t.test('a file of more than 100,000 leads is refused', async (t) => {
  t.equal((await sendCsv(`phone_number\n${`${numberOf(1)}\n`.repeat(100_001)}`)).status, 422)
})

const at = (times: readonly number[], quantile: number) =>
  Math.round(times.toSorted((one, other) => one - other)[Math.floor(times.length * quantile)] ?? 0)
