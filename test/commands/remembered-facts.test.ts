// A fact is looked up once for as long as the read model stays where it is.
import t from 'tap'
import { rememberFacts } from '../../src/commands/remembered-facts.js'

let passed: bigint | undefined = 1n
let looks = 0
const remembered = rememberFacts<string | undefined>(async () => passed, (fact) => fact !== undefined)
const look = async (fact: string | undefined) => await remembered('key', async () => { looks += 1; return fact })

t.test('what was found is given again until the read model has moved on', async (t) => {
  t.equal(await look('first'), 'first')
  t.equal(await look('second'), 'first')
  t.equal(looks, 1)
  passed = 2n
  t.equal(await look('second'), 'second')
  t.equal(looks, 2)
})

t.test('what is missing is looked up each time', async (t) => {
  passed = 3n
  t.equal(await look(undefined), undefined)
  t.equal(await look('there'), 'there')
})

t.test('a change while it is looked up is not missed', async (t) => {
  passed = 4n
  t.equal(await remembered('key', async () => { passed = 5n; return 'before' }), 'before')
  t.equal(await look('after'), 'after')
})

t.test('while the read model is filled nothing is remembered', async (t) => {
  passed = undefined
  t.equal(await look('one'), 'one')
  t.equal(await look('other'), 'other')
})
