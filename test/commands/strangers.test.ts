// A command for another user's stream costs what one for a missing stream costs, however long the stream is.
import t from 'tap'
import { EventLog, type Streams } from '../../src/log/event-log.js'
import { createRequest, handleOn, updateRequest } from '../support/commands/handle-on.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const streams = new EventLog((await scratchEventStore(t)).connection)
const owner = handleOn(streams)
await owner(createRequest(1))
for (let n = 0; n < 20; n++) await owner(updateRequest(1, { assistant_name: `Name ${n}` }))

/** What a command of the user asks the store in a process, which knows the stream or not. */
async function asked (userId: string, assistantId: number, isKnown = false): Promise<unknown[]> {
  const questions: unknown[] = []
  const observed: Streams = {
    ...streams,
    read: async (stream, from, maxCount) => {
      questions.push(['read', from, maxCount])
      return await streams.read(stream, from, maxCount)
    },
    visit: async (stream, from, take) => {
      questions.push(['visit', from])
      return await streams.visit(stream, from, take)
    }
  }
  const handle = handleOn(observed)
  if (isKnown) await handle(updateRequest(assistantId, {}))
  questions.length = 0
  const handling = handle(updateRequest(assistantId, { record_call: true }, undefined, userId))
  if (userId !== '1') await t.rejects(handling, { code: 'assistant-not-found' })
  else await handling
  return questions
}

t.test('no more than the first event of it is read, as of a stream that is not there', async (t) => {
  t.strictSame(await asked('2', 1), [['read', 0n, 1]])
  t.strictSame(await asked('2', 1_000), [['read', 0n, 1]])
})

t.test('in a process that knows the stream nothing is read', async (t) => {
  t.strictSame(await asked('2', 1, true), [])
})

t.test('the owner reads the first event once, and then the tail', async (t) => {
  t.strictSame(await asked('1', 1), [['read', 0n, 1], ['visit', 0n]])
  t.strictSame(await asked('1', 1, true), [['visit', 22n]])
})
