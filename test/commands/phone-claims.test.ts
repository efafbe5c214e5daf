// Several users want one phone number at once: one gets it, in every order of their reads and appends. The key that
// hides phone numbers is chosen once for a log.
import { randomUUID } from 'node:crypto'
import { commandHandler } from '../../src/commands/handle.js'
import { holdToLeadDigestKey, PhoneClaims, type Claimant, phoneHash } from '../../src/commands/phone-numbers.js'
import { phoneNumberDecider, type NumberState } from '../../src/features/phone-numbers/model.js'
import { phoneNumberStream } from '../../src/features/phone-numbers/events.js'
import { Rejection } from '../../src/domain/rejection.js'
import { type Streams, EventLog } from '../../src/log/event-log.js'
import t from 'tap'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { runs, seeded } from '@ringledger/embedded-postgres/testing'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)
const [digest, other] = [phoneHash(Buffer.alloc(32, 1)), phoneHash(Buffer.alloc(32, 2))]

class Killed extends Error {}

/** Stands for a process: its calls of the log wait for their turn, and fail for ever once it was killed. */
function claimingProcess (turn: (doing: string) => Promise<void> = async () => {}) {
  const taking: Streams = {
    ...streams,
    async visit (...args) {
      await turn('read')
      return await streams.visit(...args)
    },
    async append (stream, events, expected) {
      await turn(`append ${stream.split('-')[0]}`)
      const appended = await streams.append(stream, events, expected)
      await turn('appended')
      return appended
    }
  }
  const handle = commandHandler(taking)
  const claims = new PhoneClaims(handle, digest)
  /** As the route does it: claim, then add. True when the number was added. */
  async function add (claimant: Claimant, commandId: string = randomUUID(), isRetry = false): Promise<boolean> {
    const { phone_number, phone_number_id, user_id: userId } = claimant
    const origin = { commandId, correlationId: 'c', userId, isRetry }
    const command = { type: 'add' as const, phone_number, ids: [phone_number_id], userId, now: new Date().toISOString() }
    try {
      await claims.claim(claimant, origin)
      await handle({
        aggregate: phoneNumberDecider,
        stream: phoneNumberStream(phone_number_id),
        decide: (state: NumberState) => phoneNumberDecider.decide(command, state),
        origin
      })
      return true
    } catch (error) {
      if (error instanceof Rejection) return false
      throw error
    }
  }
  return { add, claims }
}

let ids = 0
const claimantOf = (phone_number: string) => (user_id: string): Claimant =>
  ({ phone_number, phone_number_id: ++ids, user_id })
let numbers = 15558000000
const nextNumber = () => `+${++numbers}`
const typesOf = async (stream: string) => (await streams.read(stream)).map(({ type }) => type)

t.test('in any order, and with any of them killed, at most one adds the number, and one who comes later gets a free one', async (t) => {
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 100_000)
  const random = seeded(seed)
  for (let round = 0; round < runs(8); round++) {
    const number = nextNumber()
    const claimant = claimantOf(number)
    const waiting: Array<() => void> = []
    const turn = () => new Promise<void>((resolve, reject) => {
      waiting.push(random() < 0.08 ? () => { reject(new Killed('killed')) } : resolve)
    })
    const claimants = Array.from({ length: 3 }, (_, index) => claimant(String(index)))
    let running = claimants.length
    const outcomes = claimants.map(async (each) => {
      let isDead = false
      const process = claimingProcess(async () => {
        if (isDead) throw new Killed('dead')
        await turn().catch((error: unknown) => {
          isDead = true
          throw error
        })
      })
      return await process.add(each).catch((error: unknown) => {
        if (error instanceof Killed) return undefined
        throw error
      }).finally(() => { running -= 1 })
    })
    while (running > 0) {
      await new Promise(setImmediate)
      waiting.splice(Math.floor(random() * waiting.length), 1)[0]?.()
    }
    const answers = await Promise.all(outcomes)
    const added = await Promise.all(claimants.map(async ({ phone_number_id: id }) =>
      (await typesOf(phoneNumberStream(id))).join() === 'PhoneNumberAdded'))
    const about = `seed ${seed}, round ${round}: ${JSON.stringify({ answers, added })}`
    t.ok(added.filter(Boolean).length <= 1, about)
    answers.forEach((answer, at) => { if (answer !== undefined) t.equal(answer, added[at], about) })
    if (!answers.includes(undefined)) t.ok(added.includes(true), about)
    t.equal(await claimingProcess().add(claimant('later')), !added.includes(true), about)
  }
})

t.test('the first start writes a fingerprint, also when many start at once; later ones are held to it', async (t) => {
  await Promise.all(Array.from({ length: 5 }, () => holdToLeadDigestKey(streams, digest)))
  await holdToLeadDigestKey(streams, digest)
  const stored = await streams.read('ringledger-settings')
  t.match(stored, [{ type: 'LeadDigestKeyChosen', data: { fingerprint: digest('LEAD_DIGEST_KEY') } }])
  t.equal(stored.length, 1)
  await t.rejects(holdToLeadDigestKey(streams, other), { name: 'OtherLeadDigestKey' })
  t.equal((await streams.read('ringledger-settings')).length, 1)
})
