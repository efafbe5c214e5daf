// Measures the same service written with Emmett beside this one, in one run: `npm run bench -- peers`.
import { parseArgs } from 'node:util'
import { emmettOnEventStore, emmettOnPostgres, installed, ringledgerRoles, type Contender } from './peers/contenders.js'
import { measureContender, type Measured } from './peers/measure.js'
import { rebuildEmmett, rebuildRingledger, type Rebuilt } from './peers/rebuild.js'
import { report } from './peers/report.js'
import { withTwins } from './peers/twins.js'
import { Scene } from './support/scene.js'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '2' },
    'in-flight': { type: 'string', default: '1,32,128' },
    leads: { type: 'string', default: '50000' },
    json: { type: 'boolean', default: false }
  }
})
const say = (line: string) => process.stderr.write(`${line}\n`)
const sizes = { users: 100, assistants: 1_000, leads: Number(options.leads) }
const load = { seconds: Number(options.seconds), inFlights: options['in-flight'].split(',').map(Number), users: sizes.users }

await installed(say)
say(`a log of ${options.leads} leads is made up, each once for Ringledger and once for Emmett`)
const scene = await Scene.open(sizes, withTwins)
const contenders: Contender[] = [
  ringledgerRoles(scene, true), emmettOnEventStore(scene, true), emmettOnPostgres(scene),
  ringledgerRoles(scene, false), emmettOnEventStore(scene, false)
]
try {
  const measured: Measured[] = []
  for (let round = 1; round <= Number(options.rounds); round++) {
    for (const contender of contenders) {
      say(`round ${round}: ${contender.name}`)
      measured.push(...await measureContender(scene, contender, load))
    }
  }
  say('rebuilds')
  const rebuilt: Rebuilt[] = [await rebuildRingledger(scene), await rebuildEmmett(scene)]
  report(measured, rebuilt, options.json)
} finally {
  await scene.close()
}
