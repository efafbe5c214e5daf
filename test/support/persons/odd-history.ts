// Random histories of persons in which an event may be malformed, and so parked with all that follows it, or hold text
// that Postgres cannot read. An erasure is completed and nothing of the person is left, or it waits in words that name
// why, before anything is lost.
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { erasureWork } from '../../../src/services/persons/erasures.js'
import { lateCallWork } from '../../../src/services/persons/late-calls.js'
import { skipParked } from '../../../src/services/ops/parked.js'
import { callStream } from '../../../src/features/calls/events.js'
import { seal } from '../../../src/privacy/sealed-text.js'
import type { Turn } from '../../../workers/background/kind.js'
import { erasures } from '../../../workers/persons/erasures/erasures.js'
import { lateCalls } from '../../../workers/persons/erasures/late-calls.js'
import type { ErasureProgress } from '../../../workers/persons/erasures/progress.js'
import { callReport, newAssistant, newLead } from '../bodies/bodies.js'
import { call as reported } from '../events/call-events.js'
import { eventually } from '../eventually.js'
import type { TestService } from '../service.js'
import { haveCome } from './have-come.js'
import { hasNothingOf } from './persons.js'
import { sender, type Sent } from './sent.js'

interface Person { number: string, leads: number[], calls: string[] }
export type Way = 'lead' | 'contact' | 'update' | 'call' | 'odd' | 'again' | 'nobody' | 'list' | 'malformed' | 'copy' | 'erase'

let count = 0
const [nul, half] = ['a\0b', 'so happy \ud83d']
const request = { kind: 'test', userId: '1', failures: 0, createdAt: new Date() }
const inWords = /^(parked events, which an operator .*: \S+(, \S+)*|who is behind the log: .+)$/

export async function oddHistory (
  t: Test, service: TestService, random: () => number, ways: readonly Way[]
): Promise<void> {
  const sent = await sender(service)
  const assistant = (await sent.dataOf('POST', '/user/assistant', newAssistant())).id
  const history = new OddHistory(t, sent, assistant, random)
  for (const way of ways) await history.go(way)
  await history.end()
}

function newCall ({ calls }: Person): string {
  const id = `odd-${++count}`
  calls.push(id)
  return id
}

class OddHistory {
  readonly #persons: Person[]
  readonly #copies: string[] = []
  readonly #erased: string[] = []

  constructor (
    private readonly t: Test, private readonly sent: Sent, private readonly assistant: number,
    private readonly random: () => number
  ) {
    this.#persons = Array.from({ length: 4 }, () => ({ number: `+1555222${String(++count).padStart(4, '0')}`, leads: [], calls: [] }))
  }

  async go (way: Way): Promise<void> {
    const person = this.#pick(this.#persons)
    if (!person) return
    const { number } = person
    const named = { phone_number: number, variables: { customer_name: 'Ada Hidden' } }
    switch (way) {
      case 'lead': return await this.#lead(person, newLead(named))
      case 'contact': {
        const phone_number = `+1555111${String(++count).padStart(4, '0')}`
        return await this.#lead(person, newLead({ phone_number, secondary_contacts: [named] }))
      }
      case 'update': return await this.#ask('PUT', `/user/lead/${this.#pick(person.leads)}`, { variables: named.variables })
      case 'list': return await this.#ask('POST', '/user/blacklist', { phone_number: number })
      case 'call': {
        const id = newCall(person)
        const body = callReport(this.assistant, { from: number, lead_id: this.#pick(person.leads) ?? null })
        return await this.#ask('POST', `/engine/calls/${id}/completed`, body)
      }
      case 'odd': {
        const lead_id = this.#pick(person.leads) ?? null
        return await this.#append(newCall(person), { ...this.#odd(number), lead_id })
      }
      case 'again': return await this.#append(this.#pick(person.calls) ?? newCall(person), { from: number })
      case 'nobody': return await this.#append(newCall(person), { from: number, assistant_id: 900_000 + ++count })
      case 'malformed': return await this.#malformed(person)
      case 'copy': {
        const { body } = await this.sent.service.call('POST', '/user/person/export', { phone_number: number })
        return void this.#copies.push(body.data.id)
      }
      case 'erase': return await this.#erase(person)
      default: return way satisfies never
    }
  }

  /** All that is left is erased; copies that were asked for have nothing of whom was erased. */
  async end (): Promise<void> {
    for (const person of [...this.#persons]) await this.#erase(person)
    const { call } = this.sent.service
    for (const id of this.#copies) {
      await eventually(async () => (await call('GET', `/user/person-request/${id}`)).body.data.status !== 'processing', 60_000)
      const copy = JSON.stringify((await call('GET', `/user/person-request/${id}/download`)).body)
      for (const number of this.#erased) this.t.notOk(copy.includes(number), 'a copy has nothing of whom was erased')
    }
  }

  #pick<Item> (items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.random() * items.length)]
  }

  #odd (number: string): object {
    const transcript = [{ role: 'customer', text: this.random() < 0.5 ? half : nul, at: 0 }]
    return this.#pick([{ from: nul, to: number }, { from: number, to: half }, { from: number, transcript }]) ?? {}
  }

  /** What is refused is part of the history. */
  async #ask (method: string, path: string, body: object): Promise<void> {
    await this.sent.dataOf(method, path, body).catch(() => {})
  }

  async #lead (person: Person, body: object): Promise<void> {
    const { body: { data } } = await this.sent.service.call('POST', '/user/lead', body)
    if (data) person.leads.push(data.secondary_contacts[0]?.id ?? data.id)
  }

  async #append (id: string, given: object): Promise<void> {
    const data = { ...reported(id), assistant_id: this.assistant, lead_id: null, ...given }
    await this.#appendTo(callStream(id), 'CallCompleted', data)
  }

  async #appendTo (stream: string, type: string, data: object): Promise<void> {
    const { streams } = this.sent.service.parts
    const { revision = -1n } = await streams.last(stream) ?? {}
    await streams.append(stream, [{ id: randomUUID(), type, metadata: {}, data }], revision).catch(() => {})
  }

  /** On a stream of the person, on one of any call, or with the number in a stream that has nothing else. */
  async #malformed ({ number, leads, calls }: Person): Promise<void> {
    const { pool } = this.sent.service.parts
    const { rows: [lead] } = await pool.query<{ stream: string }>(
      'SELECT stream FROM read_model.leads WHERE id = $1', [this.#pick(leads) ?? 0])
    const chance = this.random()
    if (lead && chance < 0.4) return await this.#appendTo(lead.stream, 'LeadUpdated', { bad: 1 })
    const known = this.#pick(calls)
    if (known !== undefined && chance < 0.8) return await this.#appendTo(callStream(known), 'CallCompleted', { bad: number })
    await this.#appendTo(callStream(`odd-${++count}`), 'CallCompleted', { bad: { number } })
  }

  async #erase (person: Person): Promise<void> {
    const { t, sent: { service } } = this
    const { config, parts } = service
    const work = erasureWork({ config, connections: parts, log: { warn () {} } })
    const kind = erasures({ ...work, settleMs: 20 })
    let progress: Partial<ErasureProgress> = {}
    const turn: Turn<ErasureProgress> = {
      signal: new AbortController().signal, isOver: () => false, async keep (kept) { progress = kept }
    }
    const asked = { ...request, id: randomUUID(), input: seal(work.keys, '1', person.number) }
    await eventually(async () => {
      const ended = await kind.work({ ...asked, progress }, turn)
      if (ended === 'again') return false
      if (ended.state !== 'waiting') return true
      const { waits_for: words = '', round = 1, step = 'key' } = progress
      t.match(words, inWords)
      if (round === 1) t.equal(step, 'key', 'the key has not ended yet')
      await this.#mend(words.slice(words.lastIndexOf(': ') + 2).split(', '))
      return false
    }, 60_000)
    this.#persons.splice(this.#persons.indexOf(person), 1)
    this.#erased.push(person.number)
    const late = lateCallWork(parts)
    for (const userId of await late.users()) {
      const ofUser = { ...request, id: randomUUID(), userId, input: {}, progress: {} }
      await lateCalls(late).work(ofUser, { ...turn, async keep () {} })
    }
    await haveCome(service)
    await hasNothingOf(t, service, person.number)
  }

  /** As an operator does it: what is malformed is skipped, and hidden where the stream has nothing else. */
  async #mend (named: readonly string[]): Promise<void> {
    const { parts: { pool, streams } } = this.sent.service
    const { rows } = await pool.query<{ stream: string, revision: string, name: string }>(`
      SELECT stream, revision, coalesce(substring(consumer FROM '^read_(\\w+)_g\\d+$'), consumer) AS name
      FROM ledger.parked_events WHERE stream = ANY($1) AND error NOT LIKE 'an earlier event%' ORDER BY revision`, [named])
    this.t.strictSame([...new Set(rows.map(({ stream }) => stream))].sort(), [...named].sort(), 'what is named is parked')
    for (const { stream, revision, name } of rows) {
      await skipParked({ pool, streams }, name, stream, BigInt(revision), 'malformed').catch(() => {})
      const [first] = await streams.read(stream, 0n, 1)
      if (first && JSON.stringify(first.data).startsWith('{"bad":{')) {
        await this.#appendTo(stream, 'NothingLeft', {})
        await streams.truncate(stream, (await streams.last(stream))?.revision ?? 0n)
      }
    }
  }
}
