// What importing a catalogue leads to.
import t from 'tap'
import { languagesDecider, voicesDecider } from '../../../src/features/catalog/model.js'
import { scenarios } from '../../support/commands/given.js'

const voice = (id: number, name: string) => ({ type: 'VoiceAdded' as const, data: { id, name } })
const language = (name: string) => ({ type: 'LanguageAdded' as const, data: { name } })

t.test('of a list only what is new is added, and the same list again adds nothing', async (t) => {
  const given = scenarios(voicesDecider)
  const entries = [{ id: 1, name: 'Ada' }, { id: 2, name: 'Bo' }]
  given([]).when({ entries }).then(t, [voice(1, 'Ada'), voice(2, 'Bo')])
  given([voice(1, 'Ada')]).when({ entries }).then(t, [voice(2, 'Bo')])
  given([voice(1, 'Ada'), voice(2, 'Bo')]).when({ entries }).then(t, [])
  given([voice(1, 'Ada'), voice(2, 'Bo')]).when({ entries: [] }).then(t, [])
})

t.test('an entry under another name is renamed, one that is named twice is added once, without what nobody knows', async (t) => {
  scenarios(voicesDecider)([voice(1, 'Ada')]).when({ entries: [{ id: 1, name: 'Eve' }] }).then(t, [voice(1, 'Eve')])
  const odd = { id: 1, name: 'Ada', note: 'x' }
  scenarios(voicesDecider)([]).when({ entries: [odd, odd] }).then(t, [voice(1, 'Ada')])
  scenarios(languagesDecider)([]).when({ entries: [{ name: 'English' }, { name: 'English' }] })
    .then(t, [language('English')])
})

// Copied as a whole for each entry, a list of this length takes an hour.
t.test('a long list costs as much for each entry as a short one', { timeout: 60_000 }, async (t) => {
  const count = 100_000
  const fold = (events: Array<ReturnType<typeof voice>>, list = voicesDecider.initialState) =>
    events.reduce((list, event) => voicesDecider.evolve(list, event), list)
  const added = Array.from({ length: count }, (_, n) => voice(n + 1, `Voice ${n + 1}`))
  const list = fold(added)
  t.same(voicesDecider.decide({ entries: added.map(({ data }) => data) }, list), [])
  const renamed = fold([voice(1, 'Ada')], list)
  t.same([renamed.get(1), renamed.get(count), list.get(1)], ['Ada', `Voice ${count}`, 'Voice 1'], 'the former one stays')
  t.equal([...list].length, count)
})
