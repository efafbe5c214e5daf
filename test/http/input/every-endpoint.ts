// The three endpoints that take a body of a user, and rules that are tried at each of them.
import type { Test } from 'tap'
import type { Answer } from '../../support/running-service.js'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { jsonText } from '../../support/fuzz/bodies.js'
import { eventCounts } from '../../support/fuzz/rules.js'
import { testService } from '../../support/service.js'

export interface Endpoint { method: string, path: string, ok: number, required: string[], valid (): object }

type Body = string | Buffer | ReadableStream | undefined

export async function everyEndpoint (t: Test) {
  const service = await testService(t)
  const token = await service.token('1')
  const { body: { data: { id } } } = await service.call('POST', '/user/assistant', newAssistant())
  const endpoints = endpointsOf(id)

  async function send (
    { method, path }: Endpoint, body: Body, headers: Record<string, string> = { 'content-type': 'application/json' }
  ): Promise<Answer> {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body }),
      duplex: 'half'
    })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }

  /** The rule for each endpoint. A rule that refuses all bodies writes nothing. */
  function everywhere (title: string, refusesAll: boolean, rule: (t: Test, endpoint: Endpoint) => Promise<void>): void {
    t.test(title, async (t) => {
      for (const endpoint of endpoints) {
        const before = await eventCounts(service)
        await t.test(`${endpoint.method} ${endpoint.path}`, (t) => rule(t, endpoint))
        if (refusesAll) t.strictSame(await eventCounts(service), before, 'nothing was written')
      }
    })
  }

  /** The variables that were stored, as a read shows them. */
  async function stored (endpoint: Endpoint, { headers, body: { data } }: Answer): Promise<Record<string, unknown>> {
    const path = endpoint.path === '/user/lead' ? `/user/lead/${data.id}` : `/user/assistant/${data.id}`
    const position = { 'x-read-position': headers.get('x-read-position') ?? '' }
    const { body } = await service.call('GET', path, undefined, { headers: position })
    return (body.data.settings ?? body.data).variables
  }

  return { service, token, send, everywhere, stored }
}

function endpointsOf (id: number): Endpoint[] {
  let numbers = 0
  const required = Object.keys(newAssistant())
  const anotherLead = () => newLead({ phone_number: `+1555123${1000 + numbers++}` })
  const update = () => ({ assistant_name: 'Night desk' })
  return [
    { method: 'POST', path: '/user/assistant', ok: 201, required, valid: () => newAssistant() },
    { method: 'PUT', path: `/user/assistant/${id}`, ok: 200, required: [], valid: update },
    { method: 'POST', path: '/user/lead', ok: 200, required: ['phone_number', 'campaign_id'], valid: anotherLead }
  ]
}

/** The valid body of the endpoint with these fields besides, as text. */
export const text = (endpoint: Endpoint, fields: object = {}) => jsonText({ ...endpoint.valid(), ...fields })
export const variables = (endpoint: Endpoint, value: unknown) => text(endpoint, { variables: { n: value } })

export function isRefused (t: Test, { status, body }: Answer, expected: number, fields?: string[], why = ''): void {
  t.equal(status, expected, why)
  t.strictSame(Object.keys(body).sort(), fields ? ['errors', 'message'] : ['message'], why)
  if (fields) t.strictSame(Object.keys(body.errors).sort(), fields.sort(), why)
}
