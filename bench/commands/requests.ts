// The requests that are measured.
import type { Request } from './load.js'
import { frontDesk } from '../../src/domain/examples.js'
import type { Random } from '../support/random.js'

export interface Users {
  count: number
  assistants: number
  leads: number
  /** Of the n-th user, counted from 1. */
  tokenOf (id: number): string
}

export type Kind = () => Request

/** Users take turns. Ids and campaigns are those of the made-up log. */
export function kindsOf ({ count, assistants, leads, tokenOf }: Users, chance: Random) {
  let turn = 0
  const user = () => 1 + turn++ % count
  const change = (assistantOf: (user: number) => number): Kind => () => {
    const id = user()
    const body = { llm_temperature: chance.whole(0, 10) / 10, initial_message: `Hello, this is ${chance.hex(8)}.` }
    return { method: 'PUT', path: `/user/assistant/${assistantOf(id)}`, token: tokenOf(id), body, status: 200 }
  }
  const get = (path: (id: number) => string): Kind => () => {
    const id = user()
    return { method: 'GET', path: path(id), token: tokenOf(id), status: 200 }
  }
  /** One of those of a user: the n-th belongs to the user at that place of a round. */
  const ownedBy = (id: number, all: number) => id + count * chance.whole(0, Math.floor((all - id) / count))
  return {
    ...leadKinds(user, tokenOf, chance),
    'POST assistant': () => ({
      method: 'POST', path: '/user/assistant', token: tokenOf(user()), body: frontDesk, status: 201
    }),
    'PUT assistant': change((id) => ownedBy(id, assistants)),
    'PUT assistant, one that is remembered': change((id) => id),
    'GET lead': get((id) => `/user/lead/${ownedBy(id, leads)}`),
    'GET assistant': get((id) => `/user/assistant/${ownedBy(id, assistants)}`),
    'GET leads, first page': get(() => '/user/leads'),
    'GET leads, by campaign': get((id) => `/user/leads?campaign_id=${campaignOf(id) + 1}`),
    'GET assistants, first page': get(() => '/user/assistants')
  } satisfies Record<string, Kind>
}

/** Each user has three. */
const campaignOf = (id: number) => (id - 1) * 3 + 1

/** Of persons who are new, and in two further campaigns of their users of those whom the first kind has made. */
function leadKinds (user: () => number, tokenOf: Users['tokenOf'], chance: Random) {
  const numbers: Array<{ id: number, number: string }> = [] // the oldest first
  /** How many of them each further campaign has. */
  const further = [{ campaign: 1, has: 0 }, { campaign: 2, has: 0 }]
  const lead = (id: number, phone_number: string, campaign_id: number): Request => ({
    method: 'POST', path: '/user/lead', token: tokenOf(id), body: { phone_number, campaign_id }, status: 200
  })
  return {
    'POST lead': () => {
      const id = user()
      const number = `+4${chance.whole(10 ** 13, 10 ** 14 - 1)}`
      numbers.push({ id, number })
      return lead(id, number, campaignOf(id))
    },
    'POST lead, known persons': () => {
      const next = further.find(({ has }) => has < numbers.length)
      const person = next && numbers[next.has++]
      if (!person) throw new Error('there are no more persons: measure POST lead first, and for longer')
      return lead(person.id, person.number, campaignOf(person.id) + next.campaign)
    }
  }
}
