// Whose assistant a call names is read from the log, and not for every call.
import t from 'tap'
import { assistantOwners } from '../../src/commands/facts.js'
import { assistantStream } from '../../src/features/assistants/events.js'
import { noStream, EventLog } from '../../src/log/event-log.js'
import { assistantCreated, proposed } from '../support/events/call-events.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)

t.test('an owner is read once for many calls; an assistant that is not there is looked for each time', async (t) => {
  let reads = 0
  const counting = {
    async read (...given: Parameters<typeof streams.read>) {
      reads += 1
      return await streams.read(...given)
    }
  }
  const ownerOf = assistantOwners(counting)
  t.equal(await ownerOf(7), undefined)
  await streams.append(assistantStream(7), [proposed(assistantCreated(7, {}, 'u'))], noStream)
  t.equal(await ownerOf(7), 'u')
  for (let n = 0; n < 10; n++) t.equal(await ownerOf(7), 'u')
  t.equal(reads, 2)
})
