// A body arrives as it is: nothing is unpacked, at all three endpoints over real HTTP.
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { everyEndpoint, isRefused, text } from './every-endpoint.js'
import { eventCounts } from '../../support/fuzz/rules.js'

const { service, send, everywhere } = await everyEndpoint(t)

everywhere('a body that is encoded is a 415, whatever it holds; identity is no encoding', false, async (t, endpoint) => {
  const json = { 'content-type': 'application/json' }
  const before = await eventCounts(service)
  for (const encoding of ['gzip', 'deflate', 'br', 'x-unknown', 'identity, gzip', '']) {
    const answer = await send(endpoint, text(endpoint), { ...json, 'content-encoding': encoding })
    isRefused(t, answer, 415, undefined, encoding)
    t.match(answer.body.message, /Content-Encoding/)
    t.equal(answer.headers.get('accept-encoding'), 'identity')
  }
  const zipped = gzipSync(text(endpoint))
  isRefused(t, await send(endpoint, zipped, { ...json, 'content-encoding': 'gzip' }), 415)
  t.strictSame(await eventCounts(service), before, 'nothing was written')
  const plain = await send(endpoint, text(endpoint), { ...json, 'content-encoding': 'Identity' })
  t.equal(plain.status, endpoint.ok)
})
