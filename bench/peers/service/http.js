// The same requests as Ringledger's: tokens, bodies that are checked by the same schemas, the same answers.
import fastify from 'fastify'
import { CreateAssistantBody, UpdateAssistantBody } from '../../../dist/src/features/assistants/bodies.js'
import { CreateLeadBody } from '../../../dist/src/features/leads/decide.js'
import { only, registerAuth } from '../../../dist/src/http/auth.js'
import { validatorCompiler } from '../../../dist/src/http/compilers.js'
import { registerRateLimits } from '../../../dist/src/http/limits/rate-limit.js'
import { assistantStream, createAssistant, createLead, leadStream, Refused, updateAssistant } from './decisions.js'
import { campaignName, openIds } from './rows.js'

/**
 * @param handle (stream, decide, isNew) gives the new state and the stream's version
 * @param visible (table, id, version) waits until readers see it
 */
export async function serve (pool, handle, visible) {
  const app = fastify()
  app.setValidatorCompiler(validatorCompiler)
  await registerAuth(app, { secret: process.env.JWT_SECRET, roleClaim: 'role' })
  await registerRateLimits(app, { perMinute: 0 })
  const onRequest = only('user')
  const nextId = openIds(pool)
  const now = () => new Date().toISOString()

  app.post('/user/lead', { onRequest, schema: { body: CreateLeadBody } }, async ({ user, body }) => {
    const campaign = await campaignName(pool, user.id, body.campaign_id)
    if (campaign === undefined) throw new Refused(422, 'campaign_id does not exist')
    const decide = createLead(user.id, body, await nextId(), now())
    const { state: { lead }, version } = await handle(leadStream(body.campaign_id, body.phone_number), decide, true)
    await visible('leads', lead.lead_id, version)
    const { lead_id: id, ...rest } = lead
    const data = { id, ...rest, status: 'created', campaign: { id: body.campaign_id, name: campaign } }
    return { message: 'Lead created successfully', data }
  })
  app.post('/user/assistant', { onRequest, schema: { body: CreateAssistantBody } }, async ({ user, body }, reply) => {
    const id = await nextId()
    const decide = createAssistant(user.id, body, id, now())
    const { state: { assistant }, version } = await handle(assistantStream(id), decide, true)
    await visible('assistants', id, version)
    return reply.code(201).send({ message: 'Assistant created successfully', data: { id, ...assistant.settings } })
  })
  app.put('/user/assistant/:id', { onRequest, schema: { body: UpdateAssistantBody } }, async ({ user, params, body }) => {
    const id = Number(params.id)
    const decide = updateAssistant(user.id, body, now())
    const { state: { assistant }, version } = await handle(assistantStream(id), decide, false)
    await visible('assistants', id, version)
    return { message: 'Assistant updated successfully', data: { id, ...assistant.settings } }
  })
  await listen(app)
}

/** Ends when its stdin closes. */
async function listen (app) {
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  process.stdin.on('close', () => process.exit(0)).resume()
  process.stdout.write(`LISTENING ${port}\n`)
}
