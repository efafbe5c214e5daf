// Measures what the size of the log and the length of a stream cost: `npm run bench -- growth`.
import { parseArgs } from 'node:util'
import { measureGrown, type Grown } from './growth/measure.js'
import { tables } from './growth/report.js'

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '10000,100000,1000000' },
    updates: { type: 'string', default: '10,100,1000,10000' },
    seconds: { type: 'string', default: '8' },
    json: { type: 'boolean', default: false }
  }
})
const numbers = (list: string) => list.split(',').map(Number)
const sizes = { seconds: Number(options.seconds), lengths: numbers(options.updates) }
const say = (line: string) => process.stderr.write(`${line}\n`)

const grown: Grown[] = []
try {
  for (const events of numbers(options.events)) grown.push(await measureGrown(events, sizes, say))
} finally { // also what was measured before a failure
  process.stdout.write(options.json ? `${JSON.stringify(grown)}\n` : tables(grown))
}
