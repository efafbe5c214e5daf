import t from 'tap'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t)

t.test('an id whose stream exists already is passed over, and nobody else\'s assistant is touched', async (t) => {
  const { call, parts: { pool, streams } } = service
  const first = await call('POST', '/user/assistant', newAssistant)
  // What an older Postgres beside a newer log looks like to another process.
  await pool.query('SELECT setval(\'ledger.assistant_ids\', 1, false)')
  const { url } = await service.start(['api'])
  const response = await fetch(`${url}/user/assistant`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await service.token('2')}`, 'content-type': 'application/json'
    },
    body: JSON.stringify(newAssistant)
  })
  t.equal(response.status, 201)
  const { data } = JSON.parse(await response.text())
  t.ok(data.id > first.body.data.id, `${data.id} is a new id`)
  t.equal((await streams.read(`assistant-${first.body.data.id}`)).length, 1)
})
