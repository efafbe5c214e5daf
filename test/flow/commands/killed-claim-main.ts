// Adds a phone number under an Idempotency-Key as the API does, and is killed between its two appends.
import { once } from 'node:events'
import { commandHandler } from '../../../src/commands/handle.js'
import { Idempotency } from '../../../src/commands/idempotency.js'
import { openIds } from '../../../src/commands/ids.js'
import { PhoneClaims, phoneHash } from '../../../src/commands/phone-numbers.js'
import { keyBytes } from '../../../src/services/complete-config.js'
import { idAt } from '../../../src/domain/decider.js'
import { phoneNumberDecider, type NumberState } from '../../../src/features/phone-numbers/model.js'
import { phoneNumberStream } from '../../../src/features/phone-numbers/events.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { EventLog } from '../../../src/log/event-log.js'
import { openPool } from '../../../src/postgres/pool.js'
import { secrets } from '../../support/auth/secrets.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', eventStoreUrl = '', route = '', userId = '', key = '', phone_number = ''] = process.argv.slice(2)
const streams = new EventLog(new EventStoreConnection(eventStoreUrl))
const pool = openPool(databaseUrl, { applicationName: 'killed claim', onError: () => {} })
const handle = commandHandler({
  ...streams,
  async append (stream, events, expected) {
    if (!stream.startsWith('phonenumber-')) return await streams.append(stream, events, expected)
    process.kill(process.pid, 'SIGKILL')
    return await once(process, 'never').then(() => { throw new Error('not killed') })
  }
})
const claims = new PhoneClaims(handle, phoneHash(keyBytes(secrets.LEAD_DIGEST_KEY)))
const ids = openIds(pool, async () => true)
const now = new Date().toISOString()
const unsealed = { seal: () => { throw new Error('nothing is kept') }, unseal: () => '' }
await new Idempotency(pool, unsealed).once(
  { userId, method: 'POST', route, key, body: { phone_number }, path: route },
  { ids: () => ids.take('phone_number') },
  async ({ ids, commandId, isRetry }) => {
    const origin = { commandId, isRetry, correlationId: 'killed', userId }
    await claims.claim({ phone_number, phone_number_id: idAt(ids, 0), user_id: userId }, origin)
    await handle({
      aggregate: phoneNumberDecider,
      stream: phoneNumberStream(idAt(ids, 0)),
      decide: (state: NumberState) => phoneNumberDecider.decide({ type: 'add', phone_number, ids, userId, now }, state),
      origin
    })
    return { status: 201, body: undefined }
  })
