// Others, as a later release, append events of their own types to our streams: commands pass over them.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { testService } from '../../support/service.js'

const { call, parts: { pool, streams } } = await testService(t)
const archived = (type: string) => [{ id: randomUUID(), type, data: { any: 'thing' }, metadata: {} }]

t.test('an assistant is read, changed and held to its ETag as if they were not there', async (t) => {
  const { data } = (await call('POST', '/user/assistant', newAssistant())).body
  const path = `/user/assistant/${data.id}`
  await streams.append(`assistant-${data.id}`, archived('AssistantArchived'), 0n)
  const etag = (await call('GET', path)).headers.get('etag') ?? ''
  const same = await call('PUT', path, {}, { headers: { 'if-match': etag } })
  t.match([same.status, same.headers.get('etag')], [200, etag])
  const changed = await call('PUT', path, { record_call: true }, { headers: { 'if-match': etag } })
  t.match([changed.status, changed.headers.get('etag')], [200, '"2"'])
  t.equal((await call('PUT', path, { record_call: false }, { headers: { 'if-match': etag } })).status, 412)
  const other = await call('GET', path)
  t.match([other.headers.get('etag'), other.body.data.settings.record_call], ['"2"', true])
})

t.test('a lead is still a duplicate, and may be created again', async (t) => {
  const { id } = (await call('POST', '/user/lead', newLead())).body.data
  const { rows: [row] } = await pool.query<{ stream: string }>('SELECT stream FROM read_model.leads WHERE id = $1', [id])
  await streams.append(row?.stream ?? '', archived('LeadArchived'), 0n)
  t.same(Object.keys((await call('POST', '/user/lead', newLead())).body.errors), ['phone_number'])
  const again = await call('POST', '/user/lead', newLead({ allow_dupplicate: true }))
  t.equal(again.status, 200)
  t.ok(again.body.data.id > id)
})
