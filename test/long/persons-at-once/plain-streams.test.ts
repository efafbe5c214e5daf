// A lead and its contact are erased at once where their stream is plain, and the worker of the one stands still or ends
// before it hides what is told anew: the other does not tell again and again what the stream says already.
import t from 'tap'
import { dispatching } from '../../support/persons/dispatching.js'
import { areFolds } from '../../support/persons/generations/are-folds.js'
import { interleave, pointsOf, type Work } from '../../support/persons/interleaved.js'
import { pairs, type Pair } from '../../support/persons/pairs.js'
import { workOn } from '../../support/persons/passing.js'
import { toldOf } from '../../support/persons/told-of.js'
import { testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t)
const { config, parts } = service
const told = await toldOf(t, service)
const log = { debug () {}, info () {}, warn () {}, error () {} }
dispatching(t, service)

const known = () => pairs['where one is a contact of the lead of the other, in plain']?.(told)
async function works (pair: Pair | undefined): Promise<Work[]> {
  return await Promise.all((pair?.both ?? []).map(async ({ phone_number }): Promise<Work> => {
    const { id } = await told.sent.dataOf('POST', '/user/person/erase', { phone_number })
    return (pass) => workOn({ config, connections: parts, log, pass, withinMs: 30_000 }, id)
  }))
}

t.test('the contact is told of once', async (t) => {
  const [, ofContact] = await works(await known())
  const [ofLead] = await works(await known())
  if (!ofContact || !ofLead) throw new Error('there are two')
  const first = (await pointsOf(ofContact)).indexOf('before an append') + 1
  const second = (await pointsOf(ofLead)).indexOf('before a truncation') + 1
  const pair = await known()
  const [lead, contact] = await works(pair)
  if (!pair || !lead || !contact) throw new Error('there are two')
  await interleave([contact, lead], { first, second, together: false })
  await pair.isErased(t)
  await areFolds(t, service)
})
