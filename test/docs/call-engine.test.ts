// The guide for call engines: its code is the code of the files, and the one in TypeScript is tried here.
import { readFile, readdir } from 'node:fs/promises'
import t from 'tap'
import { reportCall, uuidV5 } from '../../docs/call-engine/report-call.js'
import { uuidV5 as ours } from '../../src/log/stored.js'
import { call } from '../support/events/call-events.js'
import { eventually } from '../support/eventually.js'
import { connect } from '../support/back-ends/scratch-event-store.js'
import { delivered, intake, skipped } from '../support/scenes/intake.js'

const folder = 'docs/call-engine'
const guide = await readFile('docs/call-engine.md', 'utf8')

t.test('the code in the guide is the code of the files, and every file is shown', async (t) => {
  const shown = [...guide.matchAll(/^```(ts|python|go|java)\n(.*?)^```$/gms)].map(([, , text]) => text).sort()
  const files = (await readdir(folder)).filter((name) => /\.(ts|py|go|java)$/.test(name))
  t.same(shown, (await Promise.all(files.map((name) => readFile(`${folder}/${name}`, 'utf8')))).sort())
})

t.test('every sample makes its ids in the same namespace, and they are UUIDs of version 5', async (t) => {
  const namespace = /namespace = '([^']+)'/.exec(await readFile(`${folder}/report-call.ts`, 'utf8'))?.[1] ?? ''
  for (const name of ['report_call.py', 'report_call.go', 'ReportCall.java']) {
    t.match(await readFile(`${folder}/${name}`, 'utf8'), namespace, name)
  }
  t.equal(uuidV5('c-1'), ours(namespace, 'c-1'))
})

t.test('a call is reported once, however often the sample repeats it; another report of it is told', async (t) => {
  const { service, assistant, rowOf, post, dataOf, isFed } = await intake(t)
  const client = connect(t, service.urls.eventStoreUrl)
  const report = call('by-sample', { assistant_id: assistant })
  t.equal(await reportCall(client, report), true)
  t.equal(await reportCall(client, report), true, 'a repeat is a success')
  await eventually(() => dataOf('by-sample') !== undefined)
  await eventually(async () => (await rowOf('by-sample'))[0]?.status === 'delivered')
  t.same(await rowOf('by-sample'), delivered(), 'and one webhook')

  const { call_id: _, ...body } = call('by-http', { assistant_id: assistant })
  t.equal((await post('by-http', body)).status, 202)
  t.equal(await reportCall(client, call('by-http', { assistant_id: assistant })), false)

  await reportCall(client, call('without-colon', { assistant_id: assistant, ended_at: '2026-01-01T10:00:00+0200' }))
  await isFed()
  t.same(await rowOf('without-colon'), skipped('invalid'), 'an offset has a colon')
})
