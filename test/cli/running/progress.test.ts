// A bar on a terminal knows its end; where nobody does, there is none.
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { viewProgress, type Shown } from '../../../src/cli/progress.js'

/** What a terminal was sent for these, without what moves its cursor. */
function drawn (t: Test, ...steps: Shown[]): string[] {
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  const view = viewProgress(terminal)
  t.teardown(view.stop)
  for (const step of steps) view.update(step)
  view.stop()
  const text = String(terminal.read())
  // eslint-disable-next-line no-control-regex -- it is what is left out
  return text.split(/\u001b[[\d?;]*[A-Za-z78]|[\r\n]+/).map((line) => line.trim()).filter((line) => /[a-z]/.test(line))
}

t.test('work whose end is known has a bar that ends at its end', (t) => {
  const lines = drawn(t, { doing: 'copying', events: 1, done: 0.5 }, { doing: 'copying', events: 2, done: 1 })
  t.match(lines[0], /^copying +\[=+-+\] 50% \| 1 events/)
  t.match(lines.at(-1), /^copying +\[=+\] 100% \| 2 events/)
  t.end()
})

t.test('work whose end nobody knows has no bar, and what it counts is counted', (t) => {
  const lines = drawn(t, { doing: 'indexes', events: 0 }, { doing: 'checking', events: 7 })
  t.match(lines[0], /^indexes +\.\.\.$/)
  t.match(lines.at(-1), /^checking +7 events \| \d+\/s$/)
  t.notMatch(lines.join(), /\[|%|ETA/)
  t.end()
})

t.test('a bar appears once the end is known', (t) => {
  const lines = drawn(t, { doing: 'verify', events: 0 }, { doing: 'verify', events: 3, done: 0.25 })
  t.match(lines[0], /^verify +\.\.\.$/)
  t.match(lines.at(-1), /25% \| 3 events/)
  t.end()
})
