// However Postgres or the way to it fails a statement, nothing was changed: 503. A value that it does not take is our
// fault.
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { answerError } from '../../../src/errors.js'
import { openSite, waysToFail } from '../../support/postgres/ways-to-fail.js'

for (const [title, fail] of Object.entries(waysToFail)) {
  t.test(`${title}: 503`, async (t) => {
    const error = await errorOf(fail(t, await openSite(t)))
    t.equal(await statusFor(t, error), 503, `${'code' in error ? String(error.code) : ''} ${error.message}`)
  })
}

t.test('a value that Postgres does not take: 500', async (t) => {
  const { pool } = await openSite(t)
  for (const statement of ['INSERT INTO rows VALUES (1)', "SELECT 'x'::integer", 'SELECT 1 FROM']) {
    t.equal(await statusFor(t, await errorOf(pool().query(statement))), 500, statement)
  }
})

async function errorOf (work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(() => undefined, (thrown: unknown) => thrown)
  return error instanceof Error ? error : new Error('it did not fail')
}

async function statusFor (t: Test, error: Error): Promise<number> {
  const app = fastify()
  t.teardown(() => app.close())
  app.setErrorHandler(answerError)
  app.post('/', () => { throw error })
  return (await app.inject({ method: 'POST', url: '/' })).statusCode
}
