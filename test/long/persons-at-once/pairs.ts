// Two persons who are erased at once, by what they have to do with each other, and what holds once both are.
import type { Test } from 'tap'
import { haveCome, type Named, type ToldOf } from '../../support/persons/persons.js'
import type { PassingOptions } from '../../support/persons/erasing.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { keepingLog } from '../../support/postgres/ledger.js'
import type { TestService } from '../../support/service.js'
import type { Teardown } from '../../support/teardown.js'
import { secrets } from '../../support/auth/secrets.js'
import { dataDir, run } from '../../support/ringledger.js'

export interface Pair {
  /** Whose persons, and their numbers. */
  both: Array<{ userId: string, phone_number: string }>
  isErased (t: Test): Promise<void>
}

/** Matches persons of user 1 who are erased here, and nobody else. */
export const gone = { number: '+15557[0-9]{6}', name: 'Ada Hidden' }

let count = 0
const next = (prefix: string) => prefix + String(++count).padStart(6, '0')
const erased = (): Named => ({ phone_number: next('+15557'), variables: { customer_name: gone.name, email: '' } })
const staying = (): Named => ({ phone_number: next('+15558'), variables: { customer_name: 'Bea Kept', email: '' } })
const ofUser1 = (...persons: Named[]) => persons.map(({ phone_number }) => ({ userId: '1', phone_number }))

export const pairs: Record<string, (told: ToldOf) => Promise<Pair>> = {
  async 'who have nothing in common' (told) {
    const [one, two] = [erased(), erased()]
    const leads = [await told.lead(one), await told.lead(two)]
    const calls: string[] = []
    for (const [nth, { phone_number: from }] of [one, two].entries()) {
      calls.push(await told.call({ from, lead_id: leads[nth]?.id }), await told.plainCall({ from, lead_id: null }))
      await told.sent.dataOf('POST', '/user/blacklist', { phone_number: from, reason: 'Ada Hidden asked' })
    }
    return { both: ofUser1(one, two), isErased: (t) => told.areErased(t, { leads, calls }) }
  },

  async 'where one is a contact of the lead of the other, and both of one that stays' (told) {
    const [one, two, kept, beside, last] = [erased(), erased(), staying(), staying(), staying()]
    const own = await told.lead(one, [two, beside])
    const holder = await told.lead(kept, [one, beside, two, last])
    const [ofOwn, ofKept] = [own.secondary_contacts[0]?.id, holder.secondary_contacts[2]?.id]
    const calls = [
      await told.call({ from: two.phone_number, lead_id: ofOwn }),
      await told.call({ from: beside.phone_number, lead_id: ofKept }),
      await told.plainCall({ from: two.phone_number, lead_id: own.id })
    ]
    return {
      both: ofUser1(one, two),
      async isErased (t) {
        await told.areErased(t, { leads: [own], calls })
        await told.stays(t, holder, kept, { contacts: [beside, last] })
      }
    }
  },

  async 'where one answered a call of the lead of the other' (told) {
    const [one, two, kept, changed] = [erased(), erased(), staying(), staying()]
    const [lead, other, setBack] = [await told.lead(one), await told.lead(kept), await told.lead(changed)]
    const [from, to] = [two.phone_number, one.phone_number]
    const calls = [
      await told.call({ from, to, lead_id: lead.id }),
      await told.plainCall({ from, to, lead_id: lead.id }),
      await told.call({ from: to, to: from, lead_id: other.id, lead_status: 'rescheduled' }),
      await told.call({ from, lead_id: setBack.id, lead_status: 'rescheduled' })
    ]
    await haveCome(told.sent.service)
    await told.sent.dataOf('PUT', `/user/lead/${setBack.id}`, { status: 'created' })
    return {
      both: ofUser1(one, two),
      async isErased (t) {
        await told.areErased(t, { leads: [lead], calls })
        await told.stays(t, other, kept, { status: 'rescheduled' })
        await told.stays(t, setBack, changed, { status: 'created' })
      }
    }
  },

  async 'who are one person, asked for twice' (told) {
    const [one, kept] = [erased(), staying()]
    const [lead, holder] = [await told.lead(one), await told.lead(kept, [one])]
    const from = one.phone_number
    const calls = [await told.call({ from, lead_id: lead.id }), await told.plainCall({ from, lead_id: null })]
    await told.sent.dataOf('POST', '/user/blacklist', { phone_number: from, reason: 'Ada Hidden asked' })
    return {
      both: ofUser1(one, one),
      async isErased (t) {
        await told.areErased(t, { leads: [lead], calls })
        await told.stays(t, holder, kept)
      }
    }
  },

  async 'of two users, with one number' (told) {
    const number = staying()
    const leads = []
    for (const user of ['1', '2', '3']) {
      const campaign_id = user === '1' ? 1 : (await told.sent.dataOf('POST', '/user/campaign', { name: 'Theirs' }, user)).id
      leads.push(await told.lead(number, [], { campaign_id }, user))
    }
    const [one, two, third] = leads
    const calls = [await told.call({ from: number.phone_number, lead_id: one?.id })]
    return {
      both: ['1', '2'].map((userId) => ({ userId, phone_number: number.phone_number })),
      async isErased (t) {
        if (!one || !two || !third) throw new Error('there are three')
        await told.areErased(t, { leads: [one], calls })
        t.equal((await told.sent.service.call('GET', `/user/lead/${two.id}`, undefined, { user: '2' })).status, 404)
        await told.stays(t, third, number, { user: '3' })
      }
    }
  }
}

type Pass = PassingOptions['pass']
export type Work = (pass: Pass) => Promise<unknown>

/** Where each of the two stops, as numbers of what it passes, from 1. Without one it does not stop. */
export interface Order {
  first: number
  second: number | undefined
  /** From then on both go on at once. Otherwise the first one comes to its end before the second one goes on. */
  together: boolean
}

/** The first one comes to its point, then the second one to its own, then they go on. */
export async function interleave (
  [one, two]: readonly [Work, Work], { first, second, together }: Order
): Promise<void> {
  const [ofOne, ofTwo] = [stopAt(first), stopAt(second)]
  const ones = one(ofOne.pass)
  await Promise.race([ones, ofOne.reached])
  const twos = two(ofTwo.pass)
  await Promise.race([ones, twos, ofTwo.reached])
  ofOne.goOn()
  if (!together) await Promise.race([ones, twos])
  ofTwo.goOn()
  await Promise.all([ones, twos])
}

/** What a work passes when nobody stops it. */
export async function pointsOf (work: Work): Promise<string[]> {
  const points: string[] = []
  await work((at) => void points.push(at))
  return points
}

function stopAt (point: number | undefined) {
  let [reach, goOn] = [() => {}, () => {}]
  const reached = new Promise<void>((resolve) => { reach = resolve })
  const mayGoOn = new Promise<void>((resolve) => { goOn = resolve })
  let count = 0
  return {
    reached,
    goOn,
    async pass () {
      count += 1
      if (count !== point) return
      reach()
      await mayGoOn
    }
  }
}

export function dispatching (t: Teardown, { parts: { pool, streams } }: Pick<TestService, 'parts'>): void {
  const stopping = new AbortController()
  const log = keepingLog()
  void runSubscription(dispatcher({ pool, firstDelayMs: 0, wake () {}, log }), {
    pool, streams, holder: 'test', signal: stopping.signal, log
  })
  t.teardown(() => stopping.abort())
}

export async function areFolds (t: Test, { urls }: Pick<TestService, 'urls'>): Promise<void> {
  const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
  for (const what of ['verify', 'replay', 'verify']) {
    for (const name of ['leads', 'calls']) {
      const { code, stdout, stderr } = await run(t, ['projections', what, name], env)
      t.equal(code, 0, `${what} ${name}: ${stdout}${stderr}`)
    }
  }
}
