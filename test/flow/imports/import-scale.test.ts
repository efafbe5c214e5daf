// A large import beside another user's commands: every row is done, and what both take is printed.
import t from 'tap'
import { amount } from '../../support/chaos.js'
import { imports, numberOf } from '../../support/scenes/imports.js'
import { testService } from '../../support/service.js'

const rows = amount({ short: 1_500, whole: 100_000 })
const before = amount({ short: 50, whole: 500 })
t.setTimeout(1_800_000)

const service = await testService(t, ['api', 'projector', 'worker'])
const { sendCsv, ended } = imports(service)

t.test(`${rows} rows are imported while another user creates leads`, async (t) => {
  let made = 0
  const create = async () => {
    const began = performance.now()
    const body = { phone_number: `+44${String(1_000_000 + made++)}`, campaign_id: campaign }
    const { status } = await service.call('POST', '/user/lead', body, { user: '2' })
    if (status !== 200) t.fail(`a lead of the other user was answered ${status}`)
    return performance.now() - began
  }
  const { body: { data: { id: campaign } } } =
    await service.call('POST', '/user/campaign', { name: 'Others' }, { user: '2' })
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
  t.comment(`p99 of the other user: ${p99(alone)} ms alone, ${p99(beside)} ms beside (${beside.length} leads)`)
})

const p99 = (times: readonly number[]) =>
  Math.round(times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? 0)
