// Links: events that stand for another one, resolved when a reader asks for it.
import { randomUUID } from 'node:crypto'
import { binaryEvent, jsonEvent } from '@eventstore/db-client'
import t from 'tap'
import { collect, scratchEventStore } from '../support/scratch-event-store.js'

const { client } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const link = (to: string) => binaryEvent({ type: '$>', data: Buffer.from(to) })

t.test('links are followed when asked for, and shown alone when their target cannot be seen', async (t) => {
  const [target, links, gone] = [randomUUID(), randomUUID(), randomUUID()]
  await client.appendToStream(target, [event('Zero'), event('One')])
  await client.appendToStream(gone, event())
  await client.deleteStream(gone)
  const all = [`1@${target}`, `7@${target}`, `0@${gone}`, `-1@${target}`]
  await client.appendToStream(links, [...all.map(link), event('Plain')])
  const followed = await collect(client.readStream(links, { resolveLinkTos: true }))
  t.match(followed[0], {
    event: { type: 'One', streamId: target, revision: 1n },
    link: { type: '$>', streamId: links, revision: 0n }
  })
  t.equal(followed[0]?.commitPosition, followed[0]?.link?.position?.commit)
  const shownAlone = [undefined, '$>']
  const types = followed.map(({ event, link }) => [event?.type, link?.type])
  t.same(types, [['One', '$>'], shownAlone, shownAlone, shownAlone, ['Plain', undefined]])
  const plain = await collect(client.readStream(links))
  t.same(plain.map(({ event }) => event?.type), ['$>', '$>', '$>', '$>', 'Plain'])
})

t.test('a link is a number as .NET reads one, an @ and a name; what is none is an event', async (t) => {
  const [target, links] = [randomUUID(), randomUUID()]
  await client.appendToStream(target, [event('Zero'), event('One')])
  const all = [` 1@${target}`, `+1@${target}`, `-0@${target}`, `1 @${target}`, 'nonsense', '1@', `x@${target}`]
  await client.appendToStream(links, all.map(link))
  const followed = await collect(client.readStream(links, { resolveLinkTos: true }))
  const types = followed.map(({ event, link }) => [event?.type, link?.type])
  const [one, zero, none] = [['One', '$>'], ['Zero', '$>'], ['$>', undefined]]
  t.same(types, [one, one, zero, one, none, none, none])
})
