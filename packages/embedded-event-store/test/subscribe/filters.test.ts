// Filters of $all, and the checkpoints that come with them.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  binaryEvent, eventTypeFilter, excludeSystemEvents, jsonEvent, type Position, type ResolvedEvent, START,
  streamNameFilter
} from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import t from 'tap'
import { collect, scratchEventStore } from '../support/scratch-event-store.js'

const { client } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const events = (count: number, type?: string) => Array.from({ length: count }, () => event(type))
const link = (to: string) => binaryEvent({ type: '$>', data: Buffer.from(to) })
const types = (read: readonly ResolvedEvent[]) => read.map(({ event, link }) => [event?.type, link?.type])

t.test('filters let through by stream or type, by prefix or by expression, also what comes live', async (t) => {
  const tag = randomUUID().slice(0, 8)
  const write = async () => {
    await client.appendToStream(`${tag}-apple`, [event(`${tag}.Red`), event(`${tag}.Green`)])
    await client.appendToStream(`x-${tag}-pear`, [event(`${tag}.Yellow`)])
  }
  await write()
  const filters = [
    { filter: streamNameFilter({ prefixes: [`${tag}-`, 'nothing'] }), expected: ['Red', 'Green'] },
    { filter: streamNameFilter({ regex: `${tag}-p` }), expected: ['Yellow'] },
    { filter: eventTypeFilter({ prefixes: [`${tag}.G`, `${tag}.Y`] }), expected: ['Green', 'Yellow'] },
    { filter: eventTypeFilter({ regex: `^${tag}.*e[dn]$` }), expected: ['Red', 'Green'] }
  ]
  const running = filters.map(({ filter, expected }) => {
    const subscription = client.subscribeToAll({ fromPosition: START, filter })
    t.teardown(() => subscription.unsubscribe())
    const types: string[] = []
    subscription.on('data', ({ event }) => { types.push(event?.type.split('.')[1] ?? '') })
    return { types, expected, caughtUp: once(subscription, 'caughtUp') }
  })
  await Promise.all(running.map(({ caughtUp }) => caughtUp))
  await write()
  for (const { types, expected } of running) {
    await eventually(() => types.length === 2 * expected.length)
    t.same(types, [...expected, ...expected])
  }
})

t.test('system events can be kept out', async (t) => {
  await client.setStreamMetadata(randomUUID(), { maxCount: 1 })
  const subscription = client.subscribeToAll({ filter: excludeSystemEvents() })
  t.teardown(() => subscription.unsubscribe())
  const types: string[] = []
  subscription.on('data', ({ event }) => types.push(event?.type ?? ''))
  await once(subscription, 'caughtUp')
  t.ok(types.length > 0)
  t.same(types.filter((type) => type.startsWith('$')), [])
})

t.test('an expression that RE2 cannot say, or that is too large, is refused in words', async (t) => {
  const refused = {
    'no regular expression of RE2': ['(', 'a(?=b)', '(?<!a)b', '(a)\\1', 'a**', '(((a{10}){10}){10}){10}'],
    'too long or repeats too much: use prefixes': ['x'.repeat(4_097), '(\\w{10}){100}'.repeat(10), `(${'x'.repeat(98)}){99}`]
  }
  for (const [message, expressions] of Object.entries(refused)) {
    for (const regex of expressions) {
      const subscription = client.subscribeToAll({ filter: eventTypeFilter({ regex }) })
      const [error] = await once(subscription, 'error')
      t.match(error, { code: 3, message }, regex.slice(0, 20))
    }
  }
})

t.test('a hostile expression does not stop the store', { timeout: 20_000 }, async (t) => {
  const stream = 'a'.repeat(1_999)
  await client.appendToStream(stream, event())
  const hostile = ['(a+)+!', '(a|aa)+!', '(.*a){20}\\z!', '(\\pL*a\\pL{3}){200}', '\\pL'.repeat(1_365), '\\p{L}{1000}!']
  for (const regex of hostile) {
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ regex }) })
    subscription.on('error', () => {})
    const ended = Promise.race([once(subscription, 'caughtUp'), once(subscription, 'close')])
    await t.resolves(client.appendToStream(randomUUID(), event()), regex.slice(0, 20))
    await ended
    await subscription.unsubscribe()
  }
})

t.test('checkpoints come after every so many considered events and when caught up, grow, and resume exactly', async (t) => {
  const tag = randomUUID().slice(0, 8)
  for (let n = 0; n < 20; n++) {
    await client.appendToStream(`${tag}-${n % 2}`, events(10, n % 5 === 0 ? `${tag}Wanted` : 'Other'))
  }
  const all = await collect(client.readAll())
  const wanted = all.flatMap(({ event }) => event?.type === `${tag}Wanted` ? [event.id] : [])
  const order: Array<string | Position> = []
  const checkpointReached = async (_: unknown, position: Position) => { order.push(position) }
  const every16 = { maxSearchWindow: 8, checkpointInterval: 2, checkpointReached }
  const filter = eventTypeFilter({ prefixes: [tag], ...every16 })
  const subscription = client.subscribeToAll({ fromPosition: START, filter })
  t.teardown(() => subscription.unsubscribe())
  subscription.on('data', ({ event }) => order.push(event?.id ?? ''))
  await once(subscription, 'caughtUp')

  const checkpoints = order.flatMap((entry) => typeof entry === 'string' ? [] : [entry.commit])
  t.equal(checkpoints.length, Math.ceil(all.length / 16))
  t.same(checkpoints, [...new Set(checkpoints)].sort((a, b) => Number(a - b)))
  t.equal(checkpoints.at(-1), all.at(-1)?.commitPosition)
  t.same(order.filter((entry) => typeof entry === 'string'), wanted)

  const middle = order.findIndex((entry, index) => typeof entry !== 'string' && index > order.length / 2)
  const fromPosition = order[middle] as Position
  const resumed: string[] = []
  const second = client.subscribeToAll({ fromPosition, filter: eventTypeFilter({ prefixes: [tag] }) })
  t.teardown(() => second.unsubscribe())
  second.on('data', ({ event }) => resumed.push(event?.id ?? ''))
  await once(second, 'caughtUp')
  t.same(resumed, order.slice(middle).filter((entry) => typeof entry === 'string'))
})

t.test('a filter looks at the link, not at what it stands for; a target\'s name may hold an @', async (t) => {
  const [target, links] = [`user@${randomUUID()}`, randomUUID()]
  await client.appendToStream(target, event('Target'))
  await client.appendToStream(links, [link(`0@${target}`), event('Plain')])
  const read = await collect(client.readStream(links, { resolveLinkTos: true }))
  t.same(types(read), [['Target', '$>'], ['Plain', undefined]])
  const followed = async (filter: ReturnType<typeof eventTypeFilter>) => {
    const seen: ResolvedEvent[] = []
    const subscription = client.subscribeToAll({ fromPosition: START, resolveLinkTos: true, filter })
    subscription.on('data', (resolved: ResolvedEvent) => { seen.push(resolved) })
    await once(subscription, 'caughtUp')
    await subscription.unsubscribe()
    return seen
  }
  t.same(types(await followed(eventTypeFilter({ prefixes: ['Target'] }))), [['Target', undefined]])
  t.same(types(await followed(eventTypeFilter({ prefixes: ['$>'] }))), [['Target', '$>']])
})

t.test('while live, checkpoints come by the number of considered events; events wait until one is handled', async (t) => {
  const { position } = await client.appendToStream(randomUUID(), event())
  const seen: string[] = []
  let isHandling = false
  const checkpointReached = async () => {
    isHandling = true
    await new Promise((resolve) => setImmediate(resolve))
    isHandling = false
    seen.push('checkpoint')
  }
  const filter = excludeSystemEvents({ checkpointInterval: 2, checkpointReached })
  const subscription = client.subscribeToAll({ ...(position && { fromPosition: position }), filter })
  t.teardown(() => subscription.unsubscribe())
  subscription.on('data', () => { seen.push(isHandling ? 'event meanwhile' : 'event') })
  await once(subscription, 'caughtUp')
  const stream = randomUUID()
  for (let n = 0; n < 13; n++) await client.appendToStream(stream, Array.from({ length: 10 }, () => event()))
  await eventually(() => seen.filter((entry) => entry === 'event').length === 130)
  const checkpoints = seen.flatMap((entry, index) => entry === 'checkpoint' ? [index] : [])
  t.same(checkpoints, [64, 129], 'two windows of 32, twice; none when it caught up, for nothing was considered')
  t.notOk(seen.includes('event meanwhile'))
})
