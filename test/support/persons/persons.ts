// Persons who are known, and what has to be true of each once they are erased.
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { callReport, newAssistant, newLead } from '../bodies/bodies.js'
import { call as reported } from '../events/call-events.js'
import type { TestService } from '../service.js'
import type { Answer } from '../running-service.js'
import { eventually } from '../eventually.js'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { connectionTo, collect } from '../back-ends/scratch-event-store.js'
import type { Teardown } from '../teardown.js'
import pg from 'pg'
import { secretKeys } from '../../../src/services/complete-config.js'
import { openSealing } from '../../../src/services/connections.js'
import { toStoredEvent } from '../../../src/log/stored.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { openEvents } from '../../../src/privacy/events.js'
import { unseal, type SealedRow } from '../../../src/privacy/sealed-text.js'
import { ownerOfPart } from '../../../workers/persons/exports.js'
import type { ScratchRedis } from '../back-ends/redis.js'

/** Also where the log hides it. Requests that came later, and their copies, have it sealed. */
export async function hasNothingOf (t: Test, service: TestService, text: string): Promise<void> {
  const found = await findEverywhere(service, [text])
  t.strictSame(found.filter((place) => !place.endsWith(', sealed')), [], `nothing has ${text}`)
}

export const sender = async (service: TestService): Promise<Sent> =>
  new Sent(service, { authorization: `Bearer ${await service.token('engine', 'engine')}` })

export class Sent {
  constructor (readonly service: TestService, private readonly engine: Record<string, string>) {}

  async dataOf (method: string, path: string, body?: object, user = '1'): Promise<Answer['body']> {
    const headers = path.startsWith('/engine') ? this.engine : {}
    const answer = await this.service.call(method, path, body, { headers, user })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }

  async isThere (path: string): Promise<void> {
    await eventually(async () => (await this.service.call('GET', path)).status === 200)
  }

  /** Visible types of a stream. */
  async typesOf (stream: string): Promise<string[]> {
    return (await this.service.parts.streams.read(stream)).map(({ type }) => type)
  }
}

/** As positions name them. */
export const readers = ['leads', 'calls', 'deliveries'] as const
export type Reader = typeof readers[number]

/** Once these have come as far as the log. */
export async function haveCome (
  { parts: { positions, streams } }: Pick<TestService, 'parts'>, who: readonly string[] = readers
): Promise<void> {
  const head = await streams.head()
  for (const reader of who) {
    if (!await positions.reached(reader, head, 20_000)) throw new Error(`${reader} is behind`)
  }
}

export interface Named { phone_number: string, variables: object }
interface Lead { id: number, secondary_contacts: Array<{ id: number }> }
interface Left { status?: string, contacts?: Named[], user?: string }

export async function toldOf (t: Teardown, service: TestService): Promise<ToldOf> {
  const sent = await sender(service)
  const raw = new EventLog(connectionTo(t, service.urls.eventStoreUrl))
  return new ToldOf(sent, raw, (await sent.dataOf('POST', '/user/assistant', newAssistant())).id)
}

/** Of user 1, but for leads of others. */
export class ToldOf {
  #count = 0

  constructor (readonly sent: Sent, private readonly raw: Streams, private readonly assistantId: number) {}

  async lead (person: Named, secondary_contacts: Named[] = [], more: object = {}, user = '1'): Promise<Lead> {
    return await this.sent.dataOf('POST', '/user/lead', newLead({ ...person, secondary_contacts, ...more }), user)
  }

  async call (given: object): Promise<string> {
    const id = `http-${++this.#count}`
    await this.sent.dataOf('POST', `/engine/calls/${id}/completed`, callReport(this.assistantId, given))
    return id
  }

  /** As an engine appends it: plain. */
  async plainCall (given: object): Promise<string> {
    const id = `event-${++this.#count}`
    const data = reported(id, { assistant_id: this.assistantId, ...given })
    await this.raw.append(callStream(id), [{ id: randomUUID(), type: 'CallCompleted', metadata: {}, data }], -1n)
    return id
  }

  async areErased (t: Test, { leads = [], calls = [] }: { leads?: Lead[], calls?: string[] }): Promise<void> {
    const { sent, sent: { service, service: { parts: { pool } } } } = this
    await haveCome(service)
    for (const { id } of leads) t.equal((await service.call('GET', `/user/lead/${id}`)).status, 404, `lead ${id}`)
    for (const id of calls) {
      const call = await sent.dataOf('GET', `/user/call/${id}`)
      t.match(call, { erased: true, from: null, to: null, transcript: null }, id)
      t.strictSame(await sent.typesOf(callStream(id)), ['CallErased'], `${id} is erased once`)
      const { rows } = await pool.query('SELECT body FROM ledger.webhook_deliveries WHERE call_id = $1', [id])
      t.strictSame(rows, [{ body: null }], `${id} has one delivery, without a body`)
    }
  }

  /** With these contacts, of all that it had. */
  async stays (t: Test, { id }: Lead, named: Named, left: Left = {}): Promise<void> {
    const { status = 'created', contacts = [], user = '1' } = left
    const data = await this.sent.dataOf('GET', `/user/lead/${id}`, undefined, user)
    t.match(data, { ...named, status, secondary_contacts: contacts }, `lead ${id} stays`)
    t.equal(data.secondary_contacts.length, contacts.length, `contacts of lead ${id}`)
  }
}

const sealedRows = `
  SELECT 'ledger.work' AS name, user_id AS owner, input ->> 'key_id' AS key_id, input ->> 'sealed' AS sealed
  FROM ledger.work WHERE input ? 'sealed'
  UNION ALL SELECT 'ledger.person_exports', ${ownerOfPart}, key_id, encode(sealed, 'base64') FROM ledger.person_exports
  UNION ALL SELECT 'ledger.idempotency_keys', user_id, answer_key_id, encode(answer, 'base64')
  FROM ledger.idempotency_keys WHERE answer IS NOT NULL`

/** A word that ends with a digit is no part of a longer number. @returns the places that have any of the words */
export async function findEverywhere (
  service: TestService, words: readonly string[], redis?: ScratchRedis
): Promise<string[]> {
  const { call, client, config, parts: { pool }, urls } = service
  const any = words.map((word) => `${word.replace(/[.+]/g, '\\$&')}${/\d$/.test(word) ? '(?![0-9])' : ''}`).join('|')
  const [pattern, found] = [new RegExp(any, 'i'), new Set<string>()]
  const look = (name: string, text: string) => { if (pattern.test(text)) found.add(name) }
  await Promise.all([log(), tables(), sealed(), downloads(), filesOfRedis()])
  return [...found].sort()

  async function log (): Promise<void> {
    const events = (await collect(client.readAll())).flatMap(({ event }) => event ? [toStoredEvent(event)] : [])
    const textOf = ({ data, ...event }: typeof events[number]) => JSON.stringify(
      { ...event, data: data instanceof Uint8Array ? Buffer.from(data).toString() : data, revision: '', position: '' })
    for (const event of events) look(`the log: ${event.type} of ${event.stream}`, textOf(event))
    const connection = new EventStoreConnection(urls.eventStoreUrl)
    const { personKeys: keys } = openSealing(new EventLog(connection), pool, config)
    for (const event of await openEvents(keys, events)) look(`the log: ${event.type} of ${event.stream}`, textOf(event))
    await connection.close()
  }

  async function tables (): Promise<void> {
    const { rows } = await pool.query<{ name: string }>(`
      SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)
    const bytes = words.map((word) => Buffer.from(word).toString('hex')).join('|')
    const looked = rows.map(({ name }) =>
      `SELECT ${pg.escapeLiteral(name)} AS name WHERE EXISTS (SELECT FROM ${name} AS found WHERE found::text ~* $1)`)
    const having = await pool.query<{ name: string }>(looked.join(' UNION ALL '), [`${any}|${bytes}`])
    for (const { name } of having.rows) found.add(name)
  }

  async function sealed (): Promise<void> {
    const { rows } = await pool.query<SealedRow & { name: string, owner: string }>(sealedRows)
    for (const { name, owner, ...row } of rows) look(`${name}, sealed`, unseal(secretKeys(config), owner, row))
  }

  async function downloads (): Promise<void> {
    for (const path of ['/user/leads/export', '/user/calls/export']) {
      const headers = { authorization: `Bearer ${await service.token('1')}` }
      const answer = await fetch(`${service.url}${path}`, { headers })
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
      look(path, await answer.text())
    }
    for (const path of ['leads', 'calls', 'blacklist', 'webhook-deliveries']) {
      look(`/user/${path}`, JSON.stringify(await call('GET', `/user/${path}?per_page=100`)))
    }
  }

  async function filesOfRedis (): Promise<void> {
    for (const file of await redis?.files() ?? []) look('files of Redis', file.toString('latin1'))
  }
}
