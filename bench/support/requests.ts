// The requests that are measured.
import { frontDesk } from '../../src/domain/examples.js'
import type { Request } from './load.js'
import type { Random } from './random.js'

/** Users are counted from 1. */
export interface Users {
  count: number
  tokenOf (user: number): string
  campaignOf (user: number): number
  assistantOf (user: number): number
  leads: ReadonlyArray<{ user: number, id: number }>
}

export type Kind = () => Request
export type Kinds = Record<'POST lead' | 'POST assistant' | 'PUT assistant' | 'GET lead' | 'GET leads', Kind>

/** Users take turns. Leads are of persons who are new. */
export function kindsOf ({ count, tokenOf, campaignOf, assistantOf, leads }: Users, chance: Random): Kinds {
  let turn = 0
  const user = () => 1 + turn++ % count
  return {
    'POST lead' () {
      const id = user()
      const body = { phone_number: `+4${chance.whole(10 ** 12, 10 ** 13 - 1)}`, campaign_id: campaignOf(id) }
      return { method: 'POST', path: '/user/lead', token: tokenOf(id), body, status: 200 }
    },
    'POST assistant': () =>
      ({ method: 'POST', path: '/user/assistant', token: tokenOf(user()), body: frontDesk, status: 201 }),
    'PUT assistant' () {
      const id = user()
      const body = { llm_temperature: chance.whole(0, 10) / 10, initial_message: `Hello, this is ${chance.hex(8)}.` }
      return { method: 'PUT', path: `/user/assistant/${assistantOf(id)}`, token: tokenOf(id), body, status: 200 }
    },
    'GET lead' () {
      const found = leads[chance.whole(0, leads.length - 1)]
      if (!found) throw new Error('no user has a lead')
      return { method: 'GET', path: `/user/lead/${found.id}`, token: tokenOf(found.user), status: 200 }
    },
    'GET leads': () => ({ method: 'GET', path: '/user/leads', token: tokenOf(user()), status: 200 })
  }
}
