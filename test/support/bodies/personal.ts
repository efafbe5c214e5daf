// What users and operators trust the service with, and requests full of it that nothing comes of.
import { newAssistant, newLead } from './bodies.js'

/** Made up here, and sent wherever something is taken. */
export const personal = {
  phone: '+15557654321',
  digits: '5557654321',
  email: 'ada.byron@hidden.example',
  name: 'Augusta Zanzibar',
  query: 'hidden-in-the-query',
  inPath: 'hidden-in-the-path',
  metrics: 'hidden-metrics-token-that-is-long-enough',
  alert: 'hidden-in-the-alert-url'
}

const { phone, email, name, query, inPath } = personal

type Sent = [method: string, path: string, body?: unknown, headers?: Record<string, string>]

/** Each is refused, or leads to nothing that anybody waits for. */
export const refusedRequests: Sent[] = [
  ['POST', '/user/lead', newLead({ phone_number: `${phone}x` })],
  ['POST', '/user/lead', newLead({ phone_number: phone })],
  ['POST', '/user/lead', `{"phone_number":"${phone}",`],
  ['POST', '/user/lead', newLead({ phone_number: phone, variables: { name: `${name}\0` } })],
  ['POST', '/user/lead', newLead({ phone_number: phone, variables: { filler: email.repeat(40_000) } })],
  ['POST', '/user/lead', newLead(), { 'content-type': `text/${query}` }],
  ['POST', '/user/lead', newLead(), { 'idempotency-key': phone, 'x-correlation-id': email, 'if-match': phone }],
  ['PUT', `/user/lead/${phone}`, {}],
  ['GET', `/user/call/${email}`],
  ['GET', `/${inPath}/${phone}?${query}=1`],
  ['DELETE', `/user/assistant/${name}`],
  [
    'POST', '/user/assistant',
    newAssistant({ webhook_url: `http://10.0.0.1/${inPath}?key=${query}`, is_webhook_active: true })
  ],
  ['GET', `/metrics?token=${personal.metrics}`]
]
