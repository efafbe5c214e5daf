// Over https: the certificate is verified for the name of the URL, and the protocol is always HTTP/1.1.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openPoster } from '../../../workers/deliver/post.js'
import { cert, key } from '../../support/receivers/hook-certificate.js'

const hellos: Array<{ servername: string, protocols: string[] }> = []
const requests: Array<{ version: string, host: string | undefined }> = []
const server = createSecureServer({
  key,
  cert,
  allowHTTP1: true,
  // Asked before any certificate is shown: says what the client offers, and takes HTTP/2 wherever it can be had.
  ALPNCallback: (hello: { servername: string, protocols: string[] }) => {
    hellos.push(hello)
    return ['h2', 'http/1.1'].find((protocol) => hello.protocols.includes(protocol))
  }
}, (request, response) => {
  requests.push({ version: request.httpVersion, host: request.headers.host ?? request.headers[':authority'] })
  response.writeHead(204).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo
const url = (name: string) => `https://${name}:${port}/hook`

/** Posts to each URL in a process that trusts the certificate. */
async function trusting (t: Test, ...urls: string[]) {
  const trusted = join(t.testdir(), 'cert.pem')
  writeFileSync(trusted, cert)
  const main = fileURLToPath(new URL('./https-main.js', import.meta.url))
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: trusted }
  return await promisify(execFile)(process.execPath, [main, ...urls], { env })
}

t.test('a certificate that nobody trusts gets no request', async (t) => {
  const poster = openPoster({ allowCidrs: ['127.0.0.0/8'] }, async () => ['127.0.0.1'])
  t.teardown(() => poster.close())
  const post = (url: string) =>
    poster.post({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 5_000, signal: new AbortController().signal })
  t.match(await post(url('hook.example')), { kind: 'failure', stage: 'tls' })
  await post(url('dotted.example.'))
  t.equal(hellos.pop()?.servername, 'dotted.example', 'a name in TLS has no dot at its end')
  t.same(requests, [])
})

t.test('a trusted one gets it under its own name only, by HTTP/1.1, and HTTP/2 is not even offered', async (t) => {
  const { stdout } = await trusting(t, url('hook.example'), url('other.example'), url('127.0.0.1'))
  t.match(stdout.trim().split('\n').map((line) => JSON.parse(line)), [
    { kind: 'answer', status: 204 }, { kind: 'failure', stage: 'tls' }, { kind: 'failure', stage: 'tls' }
  ])
  t.same(requests, [{ version: '1.1', host: `hook.example:${port}` }])
  t.same(new Set(hellos.flatMap(({ protocols }) => protocols)), new Set(['http/1.1']))
  t.same(hellos.map(({ servername }) => servername).slice(1, 3), [
    'hook.example', 'other.example'
  ], 'the name of the URL is told, not the address')
})
