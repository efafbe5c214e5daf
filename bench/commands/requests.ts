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
  const campaignOf = (id: number) => (id - 1) * 3 + 1
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
    'POST lead': () => {
      const id = user()
      const body = { phone_number: `+4${chance.whole(10 ** 13, 10 ** 14 - 1)}`, campaign_id: campaignOf(id) }
      return { method: 'POST', path: '/user/lead', token: tokenOf(id), body, status: 200 }
    },
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
