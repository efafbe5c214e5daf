// A history costs what a page costs, and to others no more than what is not there.
import t from 'tap'
import { newAssistant, testService } from '../support/service.js'

const { call, parts: { pool } } = await testService(t)
const { id } = (await call('POST', '/user/assistant', newAssistant)).body.data
for (let n = 0; n < 30; n++) {
  const changes = n % 10 ? { assistant_name: `Name ${n}` } : { speech_speed: (105 + n / 2) / 100 }
  await call('PUT', `/user/assistant/${id}`, changes)
}

t.test('the former value is told however long ago it was given', async (t) => {
  const { body } = await call('GET', `/user/assistant/${id}/history?per_page=1&page=10`)
  t.equal(body.meta.total, 31)
  t.match(body.data, [{ revision: 21, changes: [{ field: 'speech_speed', from: 1.1, to: 1.15 }] }])
  const { body: { data: oldest } } = await call('GET', `/user/assistant/${id}/history?per_page=1&page=30`)
  t.match(oldest, [{ revision: 1, changes: [{ field: 'speech_speed', from: 1, to: 1.05 }] }])
})

t.test('while the read model is that of an older release, without histories, the answer is a 503', async (t) => {
  await pool.query('ALTER VIEW read_model.assistant_history RENAME TO elsewhere')
  t.equal((await call('GET', `/user/assistant/${id}/history`)).status, 503)
  t.equal((await call('GET', `/user/assistant/${id}`)).status, 200)
  await pool.query('ALTER VIEW read_model.elsewhere RENAME TO assistant_history')
  t.equal((await call('GET', `/user/assistant/${id}/history`)).status, 200)
})
