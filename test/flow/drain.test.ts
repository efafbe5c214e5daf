// A process that is asked to stop is not ready first, and goes on answering.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { apiProcess, newAssistant, testService } from '../support/service.js'
import { listeningUrl } from '../support/ringledger.js'

const service = await testService(t, ['projector'])

t.test('it is not ready, and answers until a second signal or the end of the delay; what was begun is answered', async (t) => {
  const { process, call } = await apiProcess(t, service, { DRAIN_DELAY_MS: '600000' })
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  const socket = connect(Number(new URL(listeningUrl(process.stdout()) ?? '').port), '127.0.0.1')
  socket.write('POST /user/nothing HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{')
  await eventually(() => socket.readyState === 'open')
  process.signal('SIGINT')
  await process.says((stdout) => /Not ready any more; draining after 600 s/.exec(stdout)?.[0])
  const ready = await call('GET', '/health/ready')
  t.match({ status: ready.status, body: ready.body }, { status: 503, body: { message: /stopping/, status: 'draining' } })
  t.equal((await call('GET', '/health/live')).status, 200)
  const created = await call('POST', '/user/assistant', { body: newAssistant })
  t.strictSame([created.status, created.headers.get('connection')], [201, 'close'])
  process.signal('SIGINT')
  await process.says((stdout) => stdout.includes('Draining after SIGINT') || undefined)
  socket.write('}')
  t.match(await text(socket), /"message"/)
  t.equal((await process.ended).code, 0)
  t.match(process.stdout(), /"msg":"Stopped\."}\n$/)
})
