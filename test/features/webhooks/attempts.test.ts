// Of a delivery that was attempted many times, as users and operators may ask for, a bounded number is shown.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { testService } from '../../support/service.js'

const { call, token, parts: { pool } } = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
})

interface Shown { id: string, status: string, attempts: Array<{ n: number }> }

t.test('the newest fifty are shown, oldest first, with the call and by themselves', async (t) => {
  const callId = randomUUID()
  const hook = { is_webhook_active: true, webhook_url: (await receiver(t)).url }
  const { body: { data: { id: assistant } } } = await call('POST', '/user/assistant', newAssistant(hook))
  const headers = { authorization: `Bearer ${await token('engine', 'engine')}` }
  await call('POST', `/engine/calls/${callId}/completed`, callReport(assistant), { headers })
  const ofCall = async (): Promise<Shown | undefined> => (await call('GET', `/user/call/${callId}`)).body.data?.deliveries[0]
  const { id } = await eventually(async () => {
    const shown = await ofCall()
    return shown?.status === 'delivered' && shown
  })
  await pool.query(`
    INSERT INTO ledger.webhook_attempts
      (delivery_id, endpoint_id, trigger, n, started_at, worker_token, finished_at, outcome)
    SELECT delivery_id, endpoint_id, 'manual', many, now() + many * interval '1 s', worker_token, now(), 'gone'
    FROM ledger.webhook_attempts, generate_series(1, 80) many WHERE delivery_id = $1`, [id])
  const newest = Array.from({ length: 50 }, (_, index) => 31 + index)
  t.strictSame((await ofCall())?.attempts.map(({ n }) => n), newest)
  const { body } = await call('GET', `/user/webhook-deliveries/${id}`)
  t.strictSame(body.data.attempts.map(({ n }: { n: number }) => n), newest)
})
