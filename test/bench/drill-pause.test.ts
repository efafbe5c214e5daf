// The time in which nodes may be killed.
import t from 'tap'
import { pauseForFaults } from '../../bench/drill/pause.js'

t.test('with --pause the drill goes on by itself', async (t) => {
  const said: string[] = []
  await pauseForFaults(0.01, (line) => said.push(line))
  t.match(said, [/^NOW kill nodes .* It is counted in 0\.01 s whether they are back\.$/])
})
