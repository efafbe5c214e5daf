// The limit of HTTP: the same Fastify, tokens and validation, and nothing behind them but one prepared statement.
import fastify from 'fastify'
import { findLead } from '../../projections/find-leads.js'
import { CreateLeadBody } from '../../src/domain/lead/validate.js'
import { only, registerAuth } from '../../src/http/auth/auth.js'
import { validatorCompiler } from '../../src/http/input/validators.js'
import { registerRateLimits } from '../../src/http/limits/rate-limit.js'
import { openPool } from '../../src/postgres/pool.js'

const { DATABASE_URL = '', JWT_SECRET = '' } = process.env
const pool = openPool(DATABASE_URL, { applicationName: 'bare', onError: () => {} })
const app = fastify()
app.setValidatorCompiler(validatorCompiler)
await registerAuth(app, { secret: JWT_SECRET, roleClaim: 'role' })
await registerRateLimits(app, { perMinute: 0 })
const onRequest = only('user')
app.post('/user/lead', { onRequest, schema: { body: CreateLeadBody } }, async ({ body }) => ({ data: body }))
app.get<{ Params: { id: string } }>('/user/lead/:id', { onRequest }, async ({ user, params }) =>
  ({ data: await findLead(pool, user.id, Number(params.id)) }))
const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
process.stdin.on('close', () => process.exit(0)).resume()
process.stdout.write(`LISTENING ${port}\n`)
