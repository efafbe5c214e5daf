// A service with an assistant, its call `c-1` and a delivery of that, all of user 1: what refusals of routes need.
import { randomUUID } from 'node:crypto'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { testService } from '../../support/service.js'
import type { Teardown } from '../../support/teardown.js'

/** Returns when reads show the call. */
export async function refusalScene (t: Teardown) {
  const service = await testService(t)
  const { call, token } = service
  /** The header of that user's or role's token. */
  const as = async (user: string, role?: string) => ({ authorization: `Bearer ${await token(user, role)}` })
  const [engine, other] = [await as('engine', 'engine'), await as('2')]
  const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
  const reported = await call('POST', '/engine/calls/c-1/completed', callReport(id), { headers: engine })
  const delivery = randomUUID()
  await service.parts.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, status,
      reason)
    VALUES ($1, 'c-1', 'call.completed', '1', $2, 1, 1, 'skipped', 'webhook_off')`, [delivery, id])
  await call('GET', '/user/calls', undefined, {
    headers: { 'x-read-position': reported.headers.get('x-read-position') ?? '' }
  })
  return { service, call, as, engine, other, id, delivery }
}
