// Whether anything is lost, doubled or unaccounted when nodes of a real cluster are killed.
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { openReceiver, runJourney, Timeline } from '../src/cli/journey.js'
import { accounts } from './drill/account.js'
import { Book } from './drill/book.js'
import { assertEmpty, NotEmpty } from './drill/empty.js'
import { beginUsers, Load } from './drill/load.js'
import { drillOptions, type DrillOptions } from './drill/options.js'
import { pauseForFaults } from './drill/pause.js'
import { openDrillReceiver, type DrillReceiver } from './drill/receiver.js'
import { asText, commandsOf, problemsOf, type Drilled } from './drill/report.js'
import { drillUsers, openService, type DrilledService } from './drill/service.js'
import { untilReady } from './support/until-ready.js'

const walker = '1'
const say = (line: string) => process.stderr.write(`${line}\n`)

try {
  const options = drillOptions(process.argv.slice(2))
  await assertEmpty(options)
  const drilled = await onService(options)
  const problems = problemsOf(drilled)
  process.stdout.write(asText(drilled, problems))
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ ...drilled, problems }, null, 2)}\n`)
  if (problems.length > 0) process.exitCode = 1
} catch (error) {
  say(`drill: ${error instanceof NotEmpty ? error.message : String(error)}`)
  process.exitCode = 1
}

async function onService (options: DrillOptions): Promise<Drilled> {
  const receiver = await openDrillReceiver()
  try {
    const service = await openService(options)
    try {
      await untilReady(service)
      await walk(service)
      return await drill(options, service, receiver)
    } finally {
      await service.close()
    }
  } finally {
    await receiver.close()
  }
}

/** The main job once, from outside, before anything is killed. */
async function walk ({ url, tokenOf }: DrilledService): Promise<void> {
  const { signal } = new AbortController()
  const receiver = await openReceiver(signal)
  try {
    const tokens = { user: await tokenOf(walker), engine: await tokenOf('engine', 'engine') }
    await runJourney({ url, tokens, receiver, timeline: new Timeline('The walk', signal), signal })
  } finally {
    await receiver.close()
  }
}

async function drill (options: DrillOptions, service: DrilledService, receiver: DrillReceiver): Promise<Drilled> {
  const { minutes, pause } = options
  const users = await beginUsers(service, drillUsers, receiver.url)
  const book = new Book()
  const over = new AbortController()
  const running = new Load(service.client, book, users, await service.tokenOf('engine', 'engine')).run(over.signal)
  const half = () => delay(minutes * 30_000)
  say(`${minutes / 2} minutes of load`)
  await half()
  await pauseForFaults(pause, say)
  say(`${minutes / 2} minutes of load, with all nodes`)
  await half()
  over.abort()
  await running
  say('Counting')
  const counted = await accounts({ service, users, book, receiver, walker })
  return { minutes, commands: commandsOf(book), longestGap: book.longestGapMs / 1_000, ...counted }
}
