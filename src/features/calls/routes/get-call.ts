// GET /user/call/{id}
import Type from 'typebox'
import { Delivery } from '../../webhooks/delivery.js'
import { isCallId } from '../events.js'
import { CallReport, describeCall } from '../summary.js'
import { Rejection } from '../../../domain/rejection.js'
import type { App } from '../../../http/app-types.js'
import { answered, One, refusal } from '../../../http/docs/describe.js'
import { call, callId } from '../../../http/docs/examples.js'
import { itemErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { RouteServices } from '../../services.js'

export interface GetCallDeps extends RouteServices {
  /** The webhooks of the user's call with their newest attempts, as they are now. */
  deliveriesOf (userId: string, callId: string): Promise<Delivery[]>
}

const CallAnswer = Type.Object({
  ...CallReport.properties,
  deliveries: Type.Array(Delivery, { description: 'The webhooks of the call, as they are now.' })
}, { title: 'Call' })

const schema = {
  operationId: 'getCall',
  summary: 'Get a call',
  description: 'Everything that a webhook says of it, for when one was missed, and what became of its webhook.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: Type.Object({ id: Type.String({ description: 'The call, as the engine names it.', examples: [callId] }) }),
  response: {
    200: answered('The call with its transcript and its webhook.', One(CallAnswer), { data: call }),
    ...itemErrors,
    404: refusal('Call not found or does not belong to the authenticated user')
  }
}

export function getCall (app: App, { readModel, readPositions, deliveriesOf }: GetCallDeps): void {
  app.get('/user/call/:id', { schema, ...reading('calls', readPositions) }, async ({ user, params: { id } }) => {
    const found = isCallId(id) ? await readModel.findCall(user.id, id) : undefined
    if (!found) throw new Rejection('not-found', 'Call not found or does not belong to the authenticated user')
    return { data: { ...describeCall(found.summary, found.report), deliveries: await deliveriesOf(user.id, id) } }
  })
}
