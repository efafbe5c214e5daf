// A row of the paired bench tells the cost of ours in that of the other, whichever way its figure counts.
import t from 'tap'
import { rowOf, table } from '../../bench/pair/rows.js'

t.test('below 1 ours is better: of a time that is lower, and of a rate that is higher', async (t) => {
  t.match(rowOf('x', 'ms', [[9, 2, 4], [8, 8, 8]]), { ours: 4, beside: 8, ratio: 0.5, isAbove: false })
  t.match(rowOf('x', 'requests/s', [[200], [100]], 'higher'), { ours: 200, beside: 100, ratio: 0.5, isAbove: false })
  t.match(rowOf('x', 'requests/s', [[100], [110]], 'higher'), { ratio: 1.1, isAbove: true })
})

t.test('without another side, or with nothing there, no ratio is told', async (t) => {
  t.match(rowOf('x', 'ms', [[3]]), { ours: 3, beside: null, ratio: null, isAbove: false })
  t.match(rowOf('x', 'statements', [[1], [0]]), { ratio: null, isAbove: false })
  const shown = table([rowOf('slow', 'ms', [[2], [1]]), rowOf('alone', 'ms', [[3]])], [{ name: 'other', reason: 'it is not there' }])
  t.match(shown, /slow .* 2\.00 .*ABOVE/)
  t.match(shown, '1 of 1 ratios are above 1.05')
  t.match(shown, 'Not measured: other: it is not there')
})
