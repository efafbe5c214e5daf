// Names as searches compare them.
import t from 'tap'
import { foldedName } from '../../projections/folding/folded-name.js'

t.test('a name is cut after 200 characters, and never inside of one', (t) => {
  t.equal(foldedName('É'.repeat(200)), 'é'.repeat(200))
  t.equal(foldedName('A'.repeat(201)), 'a'.repeat(200))
  t.equal(foldedName('😀'.repeat(100)), '😀'.repeat(100), 'as many units as characters may be')
  t.equal(foldedName('😀'.repeat(101)), '😀'.repeat(101), 'more units, fewer characters')
  t.equal(foldedName('😀'.repeat(201)), '😀'.repeat(200))
  t.equal(foldedName(`a\0${'b'.repeat(200)}`), `a${'b'.repeat(199)}`, 'without what Postgres does not store')
  t.end()
})
