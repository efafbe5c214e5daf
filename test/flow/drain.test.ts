// A process that is asked to stop is not ready first, and goes on answering.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { apiProcess, newAssistant, testService } from '../support/service.js'
import { listeningUrl } from '../support/ringledger.js'
import { caller } from '../support/running-service.js'

const service = await testService(t, ['projector'])

t.test('it is not ready at once, and answers for so long, with the connection ended after each answer', async (t) => {
  const { process, call } = await apiProcess(t, service, { DRAIN_DELAY_MS: '2000' })
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  const askedAt = performance.now()
  process.signal('SIGTERM')
  await process.says((stdout) => /Not ready any more; draining after 2 s/.exec(stdout)?.[0])
  const ready = await call('GET', '/health/ready')
  t.match({ status: ready.status, body: ready.body }, { status: 503, body: { message: /stopping/, status: 'draining' } })
  t.equal((await call('GET', '/health/live')).status, 200)
  const created = await call('POST', '/user/assistant', { body: newAssistant })
  t.equal(created.status, 201)
  t.equal(created.headers.get('connection'), 'close')
  t.equal((await process.ended).code, 0)
  t.ok(performance.now() - askedAt >= 2_000)
})

t.test('a second signal ends the wait, and what was asked before is answered', async (t) => {
  const { process } = await apiProcess(t, service, { DRAIN_DELAY_MS: '600000' })
  const port = Number(new URL(listeningUrl(process.stdout()) ?? '').port)
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /user/nothing HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{')
  await eventually(() => socket.readyState === 'open')
  await caller(`http://127.0.0.1:${port}`)('GET', '/health/live') // so the request before has arrived
  process.signal('SIGINT')
  await process.says((stdout) => /draining after 600 s/.exec(stdout)?.[0])
  process.signal('SIGINT')
  await process.says((stdout) => stdout.includes('Draining after SIGINT') || undefined)
  socket.write('}')
  t.match(await text(socket), /"message"/)
  t.equal((await process.ended).code, 0)
  t.match(process.stdout(), /"msg":"Stopped\."}\n$/)
})
