// The steps of the demo: an assistant, a lead, an import, a call, and its webhook, over real HTTP.
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { customer, frontDesk } from '../domain/examples.js'
import { completedCall, newLead as exampleLead } from '../http/docs/examples.js'
import type { WebhookPayload } from '../features/webhooks/payload.js'
import { printJson } from './output.js'
import { Interrupted } from './shutdown.js'

interface Journey {
  url: string
  tokens: { user: string, engine: string }
  receiver: Awaited<ReturnType<typeof openReceiver>>
  timeline: Timeline
  signal: AbortSignal
}

interface Created { id: number, name: string, type: string, mode: string }
interface Import { id: string, status: string, total: number, created: number, invalid: number }
interface Row { row: number, outcome: string, errors: Record<string, string[]> | null }

/** @throws when the first step fails */
export async function runJourney (journey: Journey): Promise<void> {
  const call = caller(journey.url)
  const [assistantId, campaignId] = await prepare(journey, call)
  const leadId = await register(journey, call, campaignId)
  const endedAt = performance.now()
  await journey.timeline.step('complete a call', 'POST /engine/calls/demo-1/completed', async () => {
    await call('POST', '/engine/calls/demo-1/completed', journey.tokens.engine, 202, report(assistantId, leadId))
    return 'accepted: the event is in the log'
  })
  await receive(journey, call, endedAt, leadId)
}

async function prepare ({ tokens: { user }, receiver, timeline }: Journey, call: Call): Promise<[number, number]> {
  const campaignId = await timeline.step('create a campaign', 'POST /user/campaign', async () => {
    const { data: { id, name } } = await call<Created>('POST', '/user/campaign', user, 201, newCampaign)
    return [id, `${name} has id ${id}`] as const
  })
  const phone_number_id = await timeline.step('add a phone number', 'POST /user/phone-number', async () => {
    const { data } = await call<typeof newNumber & { id: number }>('POST', '/user/phone-number', user, 201, newNumber)
    return [data.id, `${data.phone_number} has id ${data.id}`] as const
  })
  const assistantId = await timeline.step('create an assistant', 'POST /user/assistant', async () => {
    const body = { ...newAssistant, phone_number_id }
    const { data: { id, name, type, mode }, headers } = await call<Created>('POST', '/user/assistant', user, 201, body)
    return [id, `${name} has id ${id}, ${type}, ${mode}; ${source(headers)}`] as const
  })
  await timeline.step('update it', `PUT /user/assistant/${assistantId}`, async () => {
    const changes = { webhook_url: receiver.url, is_webhook_active: true, speech_speed: 1.1 }
    const { headers } = await call('PUT', `/user/assistant/${assistantId}`, user, 200, changes)
    return `webhook on, ${receiver.url}; revision ${headers.get('etag')}; ${source(headers)}`
  })
  return [assistantId, campaignId]
}

/** Creates a lead, and imports three of a file. Its fourth row is refused: a number on the do-not-call list. */
async function register (
  { tokens: { user }, timeline, signal }: Journey, call: Call, campaign_id: number
): Promise<number> {
  const lead = { ...newLead, campaign_id }
  const leadId = await timeline.step('create a lead', 'POST /user/lead', async () => {
    const { data: { id, secondary_contacts: contacts }, headers } =
      await call<{ id: number, secondary_contacts: unknown[] }>('POST', '/user/lead', user, 200, lead)
    return [id, `lead ${id} with ${contacts.length} secondary contacts; ${source(headers)}`] as const
  })
  await timeline.step('refuse it twice', 'POST /user/lead', async () => {
    const { message } = await call('POST', '/user/lead', user, 422, lead)
    return `the same phone number again: 422, ${message}`
  })
  await timeline.step('put a number on the list', 'POST /user/blacklist', async () => {
    await call('POST', '/user/blacklist', user, 201, { phone_number: listedNumber, reason: 'asked for it' })
    return `${listedNumber} is not to be called`
  })
  await timeline.step('import three leads', 'POST /user/leads/import', async () => {
    const path = `/user/leads/import?campaign_id=${campaign_id}`
    const { data: { id } } = await call<Import>('POST', path, user, 202, importedLeads)
    const { created, invalid } = await ended(call, user, id, signal)
    const { data: rows } = await call<Row[]>('GET', `/user/lead-import/${id}/results`, user, 200)
    const refused = rows.find(({ outcome }) => outcome === 'invalid')
    expect(created === 3 && invalid === 1 && refused !== undefined, `the import made ${created} leads, and refused ${invalid} rows`)
    return `3 leads of a CSV file; row ${refused.row} was refused: phone_number ${refused.errors?.phone_number?.join()}`
  })
  return leadId
}

const withinMs = 10_000
const everyMs = 25

async function ended (call: Call, user: string, id: string, signal: AbortSignal): Promise<Import> {
  for (const until = Date.now() + withinMs; Date.now() < until; await delay(everyMs, undefined, { signal })) {
    const { data } = await call<Import>('GET', `/user/lead-import/${id}`, user, 200)
    if (data.status === 'completed') return data
    expect(data.status === 'processing', `the import ${data.status}`)
  }
  throw new Error(`the import did not end within ${withinMs / 1000} s`)
}

async function receive (
  { receiver, timeline, tokens: { user } }: Journey, call: Call, endedAt: number, leadId: number
): Promise<void> {
  const first = await timeline.step('first attempt', 'webhook receiver', async () => {
    const delivery = await receiver.delivery(0, 5_000)
    const after = (delivery.receivedAt - endedAt).toFixed(0)
    return [delivery, `${after} ms after the report; the receiver answers ${delivery.answered} on purpose`] as const
  })
  const { body, headers } = await timeline.step('second attempt', 'webhook receiver', async () => {
    const delivery = await receiver.delivery(1, 10_000)
    const isSameId = delivery.headers['webhook-id'] === first.headers['webhook-id']
    expect(delivery.body === first.body, 'the second attempt sent other bytes')
    expect(isSameId, 'the second attempt has another webhook-id')
    const after = ((delivery.receivedAt - first.receivedAt) / 1000).toFixed(2)
    return [delivery, `${after} s later, the same bytes and webhook-id; answered ${delivery.answered}`] as const
  })
  await timeline.step('verify the signature', 'standardwebhooks', async () => {
    const { data: { secret } } = await call<{ secret: string }>('GET', '/user/webhook-secret', user, 200)
    const payload = new Webhook(secret).verify(body, headers as Record<string, string>)
    const { type, data: { call_id, lead } } = payload as WebhookPayload
    const isThisCall = type === 'call.completed' && call_id === 'demo-1'
    expect(isThisCall && lead?.id === leadId && lead.status === 'completed', 'the payload is not about this call')
    return `genuine: ${String(headers['webhook-signature']).slice(0, 24)}..., ${Buffer.byteLength(body)} bytes`
  })
}

const source = (headers: Headers) =>
  headers.get('x-read-model') === 'pending' ? 'answered from the events' : 'answered from the read model'

interface Answer<Data> { headers: Headers, message: string, data: Data }

type Call = ReturnType<typeof caller>

/** Sends one request and checks the response's status. A string body is CSV. */
function caller (url: string) {
  return async function call<Data> (
    method: string, path: string, token: string, expected: number, body?: object | string
  ): Promise<Answer<Data>> {
    const type = typeof body === 'string' ? 'text/csv' : 'application/json'
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }) },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const answer: Omit<Answer<Data>, 'headers'> = JSON.parse(await response.text())
    const answered = `${method} ${path} answered ${response.status} and not ${expected}`
    expect(response.status === expected, `${answered}: ${JSON.stringify(answer)}`)
    return { headers: response.headers, ...answer }
  }
}

function expect (holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem)
}

// Request bodies: the examples of the API document, as an appointment to confirm.

const newCampaign = { name: 'Appointments to confirm' }
/** Not in the example catalogue. */
const newNumber = { phone_number: '+15551230050' }

const newAssistant = {
  ...frontDesk,
  calls_direction: 'make',
  initial_message: 'Hello, this is the front desk calling about your appointment.',
  system_prompt: 'You confirm appointments. Be brief and friendly.',
  post_call_schema: [{ name: 'confirmed', type: 'bool', description: 'Whether the appointment was confirmed' }]
}

const newLead = {
  ...exampleLead,
  variables: { ...customer, appointment: 'Tuesday 10:00' },
  secondary_contacts: [...exampleLead.secondary_contacts ?? [], { phone_number: '+15551230102' }]
}

const listedNumber = '+15551230113'
/** CSV: a header line, three people to call, and one on the do-not-call list. */
const importedLeads = [
  'phone_number,customer_name,email,appointment',
  '+15551230110,Cleo Example,cleo@example.com,Tuesday 11:00',
  '+15551230111,"Example, Dan",,Tuesday 11:30',
  '+15551230112,Eve Example,eve@example.com,Tuesday 12:00',
  `${listedNumber},Finn Example,,Tuesday 12:30`
].join('\r\n')

const report = (assistantId: number, leadId: number): object => ({
  ...completedCall,
  assistant_id: assistantId,
  lead_id: leadId,
  transcript: [
    { role: 'assistant', text: newAssistant.initial_message, at: 0.4 },
    { role: 'customer', text: 'Yes, Tuesday at ten is fine.', at: 6.1 }
  ],
  input_variables: newLead.variables,
  extracted_variables: { confirmed: true }
})

interface Delivery {
  headers: IncomingHttpHeaders
  /** The raw body: a signature covers these bytes and nothing else. */
  body: string
  receivedAt: number
  answered: number
}

/** Answers 503 to the first request and 204 to later ones. `delivery` rejects once `signal` is aborted. */
export async function openReceiver (signal: AbortSignal) {
  const deliveries: Delivery[] = []
  const arrivals = new EventEmitter()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const answered = deliveries.length === 0 ? 503 : 204
      const body = Buffer.concat(chunks).toString('utf8')
      deliveries.push({ headers: request.headers, body, receivedAt: performance.now(), answered })
      response.writeHead(answered).end()
      arrivals.emit('delivery')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks/calls`,
    /** Waits for the delivery with this number, counted from 0. @throws after `withinMs` */
    async delivery (number: number, withinMs: number): Promise<Delivery> {
      const late = AbortSignal.timeout(withinMs)
      for (;;) {
        const delivery = deliveries[number]
        if (delivery) return delivery
        await once(arrivals, 'delivery', { signal: AbortSignal.any([signal, late]) }).catch(() => {
          if (signal.aborted) throw new Interrupted('nobody waits for a webhook any more')
          throw new Error(`no webhook came within ${withinMs / 1000} s`)
        })
      }
    },
    async close () {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

type Report<Result> = string | readonly [result: Result, line: string]

interface Step { step: string, where: string, ms: number, held: boolean }

export class Timeline {
  readonly #startedAt = performance.now()
  readonly #steps: Step[] = []

  /** After `signal` is aborted, only the last step still begins. With `json`, prints only at the end. */
  constructor (title: string, private readonly signal: AbortSignal, private readonly json = false) {
    this.#print(`\n${this.#style('bold', title)}\n`)
    this.#print(this.#style('dim', '   at        took   what                        where'))
  }

  /**
   * Runs one step and prints its line. `work` returns a line to print below it, or a result and such a line. A step
   * that throws is printed as failed, and its error is rethrown.
   */
  async step<Result = void> (what: string, where: string, work: () => Promise<Report<Result>>): Promise<Result> {
    this.signal.throwIfAborted()
    return await this.lastStep(what, where, work)
  }

  /** A step that runs even after an abort. */
  async lastStep<Result = void> (what: string, where: string, work: () => Promise<Report<Result>>): Promise<Result> {
    const startedAt = performance.now()
    try {
      const report = await work()
      this.#line(startedAt, true, what, where)
      this.#print(this.#style('dim', `                      ${typeof report === 'string' ? report : report[1]}`))
      return (typeof report === 'string' ? undefined : report[0]) as Result // without a result, Result is void
    } catch (error) {
      this.#line(startedAt, false, what, where)
      throw error
    }
  }

  end (): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1)
    const hasFailed = this.signal.aborted || this.#steps.some(({ held }) => !held)
    if (this.json) return printJson({ held: !hasFailed, seconds: Number(seconds), steps: this.#steps })
    if (hasFailed) return this.#print(this.#style('red', `\nThe demo failed after ${seconds} s.`))
    this.#print(this.#style('green', `\nEverything held, in ${seconds} s.`))
    this.#print('Next: `npm start` runs the service with a data directory of its own.')
  }

  #line (startedAt: number, held: boolean, what: string, where: string): void {
    const now = performance.now()
    const mark = held ? this.#style('green', '✓') : this.#style('red', '✗')
    this.#steps.push({ step: what, where, ms: Math.round(now - startedAt), held })
    const at = `${((now - this.#startedAt) / 1000).toFixed(2)} s`.padStart(8)
    const took = `${(now - startedAt).toFixed(0)} ms`.padStart(8)
    this.#print(`${mark}  ${at}  ${took}   ${what.padEnd(26)}  ${this.#style('cyan', where)}`)
  }

  #style (format: Parameters<typeof styleText>[0], text: string): string {
    return styleText(format, text, { stream: process.stdout })
  }

  #print (text: string): void {
    if (!this.json) process.stdout.write(`${text}\n`)
  }
}
