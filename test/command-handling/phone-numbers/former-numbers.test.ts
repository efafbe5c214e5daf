// The numbers of a log from before there were claims are claimed once, in its order.
import t from 'tap'
import { claimFormerNumbers, readNotHeld } from '../../../src/command-handling/claim-former-numbers.js'
import { commandHandler } from '../../../src/command-handling/handle-command.js'
import { phoneClaims } from '../../../src/command-handling/phone-claims.js'
import { phoneHash } from '../../../src/command-handling/phone-hash.js'
import { phoneHolderStream } from '../../../src/domain/phone-number/events.js'
import { openStreams, type Streams } from '../../../src/event-store/streams.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { appender } from '../../support/events/appender.js'
import type { Teardown } from '../../support/teardown.js'

const digest = phoneHash(Buffer.alloc(32, 1))
const [shared, alone] = ['+15551230001', '+15551230002']

async function formerLog (t: Teardown) {
  const { connection } = await scratchEventStore(t)
  const streams = openStreams(connection)
  const number = (phone_number_id: number, user_id: string, phone_number: string) => ({
    stream: `phonenumber-${phone_number_id}`,
    type: 'PhoneNumberAdded',
    data: { phone_number_id, user_id, phone_number }
  })
  await appender(streams)(
    number(3, '1', shared), number(1, '2', shared), { stream: 'phonenumber-9', type: 'PhoneNumberAdded', data: {} },
    number(2, '2', alone), number(4, '2', shared)
  )
  return streams
}

/** A start with the streams as they are then. @returns what it warned of */
async function start (streams: Streams): Promise<object[]> {
  const warned: object[] = []
  const claims = phoneClaims(commandHandler(streams).handle, digest)
  await claimFormerNumbers({ streams, claims, log: { warn: (about) => warned.push(about) } })
  return warned
}

const holds = async (streams: Streams, number: string) =>
  (await streams.read(phoneHolderStream(digest(number)))).map(({ type, data }) => ({ type, data }))
const claimed = (phone_number_id: number, user_id: string) =>
  ({ type: 'PhoneNumberClaimed', data: { phone_number_id, user_id } })
const notHeld = [{ phone_number_id: 1, user_id: '2' }, { phone_number_id: 4, user_id: '2' }]

t.test('the first in the log holds a number, the others are named', async (t) => {
  const streams = await formerLog(t)
  t.strictSame(await start(streams), notHeld)
  t.strictSame(await holds(streams, shared), [claimed(3, '1')])
  t.strictSame(await holds(streams, alone), [claimed(2, '2')])
  t.strictSame(await readNotHeld(streams), notHeld)
})

t.test('a later start reads one short stream', async (t) => {
  const streams = await formerLog(t)
  await start(streams)
  const asked: string[] = []
  const observed: Streams = {
    ...streams,
    async read (stream, ...more) {
      asked.push(stream)
      return await streams.read(stream, ...more)
    }
  }
  t.same(await start({ ...observed, head: () => t.fail('looks at the log') as never }), [])
  t.strictSame(asked, ['ringledger-settings'])
})

t.test('a start that ends half-way is made up for by the next one', async (t) => {
  const streams = await formerLog(t)
  for (const most of [0, 1, 1]) {
    let appends = 0
    await t.rejects(start({
      ...streams,
      async append (...args) {
        if (appends++ >= most) throw new Error('killed')
        return await streams.append(...args)
      }
    }), { message: 'killed' })
  }
  t.strictSame(await start(streams), notHeld)
  t.strictSame(await holds(streams, shared), [claimed(3, '1')])
})

t.test('several that start at once claim each number once', async (t) => {
  const streams = await formerLog(t)
  await Promise.all([start(streams), start(streams), start(streams)])
  t.strictSame([await holds(streams, shared), await holds(streams, alone)], [[claimed(3, '1')], [claimed(2, '2')]])
  const settings = await streams.read('ringledger-settings')
  t.equal(settings.filter(({ type }) => type === 'PhoneNumbersClaimed').length, 1)
})

t.test('an empty log has nothing to claim', async (t) => {
  const { connection } = await scratchEventStore(t)
  const streams = openStreams(connection)
  t.same(await start(streams), [])
  t.same(await readNotHeld(streams), [])
})
