// What goes wrong and what the caller is told of it, over real HTTP.
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { Rejection, type RejectionCode } from '../src/domain/rejection.js'
import { answerError } from '../src/errors.js'
import { AppendOutcomeUnknown, AppendTooLarge, EventStoreUnavailable, RevisionConflict } from '../src/log/errors.js'
import { StreamBusy } from '../src/commands/handle.js'
import { IdsUsedUp, NotCaughtUp } from '../src/commands/ids.js'
import { openPool, type PoolOptions } from '../src/postgres/pool.js'
import { scratchPostgres } from './support/back-ends/back-ends.js'
import { tcpProxy } from './support/back-ends/tcp-proxy.js'
import { NotKnownYet } from '../projections/engine/positions.js'

async function answerTo (t: Test, error: Error, failure?: string) {
  const app = fastify()
  t.teardown(() => app.close())
  app.setErrorHandler(answerError)
  app.post('/', { config: { ...(failure && { failure }) } }, () => { throw error })
  const { statusCode, headers, body } = await app.inject({ method: 'POST', url: '/' })
  return { status: statusCode, retryAfter: headers['retry-after'], body: JSON.parse(body) as object }
}

/** What a statement fails with where no SQLSTATE and no socket says why, but the words of the driver alone. */
async function errorsOfTheDriver (t: Test): Promise<Error[]> {
  const { url } = await scratchPostgres(t, 'empty')
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  const through = Object.assign(new URL(url), { port: String(proxy.port) }).href
  const open = (options: Partial<PoolOptions> = {}) => {
    const pool = openPool(through, { applicationName: 'failing', max: 1, onError: () => {}, ...options })
    t.teardown(() => pool.ended || pool.end())
    return pool
  }
  const errorOf = async (work: Promise<unknown>) =>
    await work.then(() => new Error('it did not fail'), (error: Error) => error)
  const [ended, full, silent] = [open(), open(), open({ answerWithinMs: 1_000 })]
  await ended.end()
  const held = await full.connect()
  held.on('error', () => {})
  await silent.query('SELECT 1')
  const errors = [await errorOf(ended.query('SELECT 1')), await errorOf(full.query('SELECT 1'))]
  const sleeping = errorOf(held.query('SELECT pg_sleep(60)'))
  proxy.freeze()
  errors.push(await errorOf(silent.query('SELECT 1')))
  proxy.cut()
  errors.push(await sleeping, await errorOf(held.query('SELECT 1')))
  held.release(true)
  return errors
}

t.test('each refusal has its status, and its message is the domain’s', async (t) => {
  const statuses: Record<RejectionCode, number> = {
    invalid: 422,
    'assistant-not-found': 404,
    'id-taken': 503,
    'not-found': 404,
    'revision-mismatch': 412,
    'call-differs': 409,
    'catalog-conflict': 409,
    'too-large': 413,
    'webhook-refused': 409,
    'not-ready': 409,
    gone: 410,
    'too-many': 429
  }
  for (const [code, status] of Object.entries(statuses)) {
    t.match(
      await answerTo(t, new Rejection(code as RejectionCode, 'Because.')), { status, body: { message: 'Because.' } }
    )
  }
})

t.test('a refusal of fields names them, and only such a refusal has errors', async (t) => {
  const errors = { 'a.0.b': ['must be c'] }
  const answer = await answerTo(t, new Rejection('invalid', 'The given data was invalid.', errors))
  t.strictSame(answer.body, { message: 'The given data was invalid.', errors })
  t.strictSame((await answerTo(t, new Rejection('call-differs', 'No.'))).body, { message: 'No.' })
})

t.test('a back end that was missing before anything was written is a 503 that may be retried', async (t) => {
  const codes = [
    'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'ETIMEDOUT', '08006', '25006',
    '25P03', '25P04', '28000', '28P01', '3D000', '40001', '40P01', '42501', '42703', '42P01', '53300', '55P03', '57014',
    '57P01', '57P03', '58030'
  ]
  const errors = [
    new EventStoreUnavailable('esdb://secret-host:2113'), new StreamBusy('x'), new NotCaughtUp('x'), new NotKnownYet('x'), new IdsUsedUp('x'),
    ...codes.map((code) => Object.assign(new Error('secret-host'), { code })), ...await errorsOfTheDriver(t)
  ]
  for (const error of errors) {
    t.strictSame(await answerTo(t, error), {
      status: 503, retryAfter: '1', body: { message: 'The service is not available right now. Nothing was changed.' }
    }, `${error.name} ${error.message}`)
  }
})

t.test('anything else is a 500 that says what failed and nothing of how', async (t) => {
  for (const error of [
    new AppendOutcomeUnknown('x'), new RevisionConflict('x'), new TypeError('x'),
    ...['23502', '22P02', '42601', '23505'].map((code) => Object.assign(new Error('SELECT secret'), { code }))
  ]) {
    t.match(await answerTo(t, error, 'Assistant creation failed'),
      { status: 500, retryAfter: undefined, body: { message: 'Assistant creation failed' } })
    t.strictSame((await answerTo(t, error)).body, { message: 'Internal server error' })
  }
})

t.test('errors of the client keep their status', async (t) => {
  const withStatus = (statusCode: number) => Object.assign(new Error('said by the framework'), { statusCode })
  t.match(await answerTo(t, withStatus(400)), { status: 400, body: { message: 'said by the framework' } })
  t.match(await answerTo(t, withStatus(401)), { status: 401, body: { message: 'Unauthenticated.' } })
  t.match(await answerTo(t, withStatus(415)),
    { status: 415, body: { message: 'The request body must be JSON: send Content-Type: application/json.' } })
  t.match(await answerTo(t, withStatus(413)), { status: 413, body: { message: 'The request is too large.' } })
  t.match(await answerTo(t, new AppendTooLarge('x')), { status: 413, body: { message: 'The request is too large.' } })
})
