// Half the top rate for a long time, with hostile users beside the honest ones.
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { join } from 'node:path'
import { startChild } from '@ringledger/embedded-postgres/child'
import { openHonest, type Honest } from './soak/honest.js'
import { steadily, topRate, type Outcome } from './soak/load.js'
import { MemorySamples } from './soak/memory.js'
import { hostileUsers, openScene, type Scene } from './soak/scene.js'
import { asText, phaseOf, problemsOf, type Soaked } from './soak/verdict.js'
import { untilReady } from './support/until-ready.js'

const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '20' }, json: { type: 'boolean', default: false } }
})
const minutes = Number(options.minutes)
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0')

/** The top rate takes this share of the time; the rest is windows, by turns without and with hostile users. */
const topShare = 0.15
const windowSeconds = 5
/** Windows of each kind that warm up, and are not compared. */
const settling = 1
const atOnce = 24
const webhooksWithinMs = 60_000

const say = (line: string) => process.stderr.write(`${line}\n`)
const scene = await openScene()
try {
  const soaked = await soak(scene)
  const problems = problemsOf(soaked)
  const text = asText(soaked, problems)
  if (options.json) process.stdout.write(`${JSON.stringify({ ...soaked, problems })}\n`)
  else process.stdout.write(text)
  if (problems.length > 0) process.exitCode = 1
} finally {
  await scene.close()
}

async function soak (scene: Scene): Promise<Soaked> {
  await untilReady(scene)
  const honest = await openHonest(scene)
  const topSeconds = Math.max(10, minutes * 60 * topShare)
  say(`The top rate, ${topSeconds} s`)
  const top = await topRate(honest.work, atOnce, topSeconds)
  const pairs = Math.max(4, Math.round((minutes * 60 - topSeconds) / 2 / windowSeconds))
  say(`${pairs} times ${windowSeconds} s without and with hostile users, ${(top / 2).toFixed(0)} requests a second`)
  const hostile = await openHostile(scene, top)
  const { memory, ...windows } = await alternate(scene, honest, hostile, { rate: top / 2, pairs })
  const answers = await hostile.end()
  const webhooks = await arrived(scene, honest)
  honest.close()
  return { minutes, top, rate: top / 2, ...windows, webhooks, memory, hostile: answers }
}

/** By turns, so that a disturbance of the machine meets both. */
async function alternate (
  scene: Scene, honest: Honest, hostile: Hostile, { rate, pairs }: { rate: number, pairs: number }
): Promise<Pick<Soaked, 'calm' | 'beset' | 'memory'>> {
  const calm: Outcome[] = []
  const beset: Outcome[] = []
  let memory: MemorySamples | undefined
  for (let pair = 0; pair < pairs; pair++) {
    if (pair === Math.max(settling, Math.floor(pairs / 4))) memory = await MemorySamples.begin(scene)
    calm.push(await steadily(honest.work, rate, windowSeconds))
    hostile.tell('attack')
    beset.push(await steadily(honest.work, rate, windowSeconds))
    hostile.tell('rest')
  }
  return { calm: phaseOf(calm, settling), beset: phaseOf(beset, settling), memory: await memory?.end() ?? [] }
}

interface Hostile {
  tell (order: 'attack' | 'rest'): void
  /** Answers by attack and status. */
  end (): Promise<Soaked['hostile']>
}

async function openHostile ({ dir, url, tokenOf }: Scene, top: number): Promise<Hostile> {
  const module = new URL('./soak/hostile.js', import.meta.url)
  const child = startChild({ module, args: [], logFile: join(dir, 'hostile.log') })
  const tokens = await Promise.all(hostileUsers.map((id) => tokenOf(id)))
  const engine = await tokenOf('engine', 'engine')
  const write = (line: string) => child.stdin.write(`${line}\n`)
  write(JSON.stringify({ url, top, tokens, engine, users: hostileUsers }))
  await child.line((line) => line === 'PREPARED' || undefined)
  return {
    tell: write,
    async end () {
      const told = child.line((line) => /^TOLD (.*)$/.exec(line)?.[1])
      await child.stop(10)
      return JSON.parse(await told)
    }
  }
}

async function arrived ({ receiverUrl }: Scene, honest: Honest): Promise<Soaked['webhooks']> {
  const giveUpAt = performance.now() + webhooksWithinMs
  for (;;) {
    const { count }: { count: number } = JSON.parse(await (await fetch(`${receiverUrl}/arrivals`)).text())
    const isOver = count >= honest.reported() || performance.now() > giveUpAt
    if (isOver) return { reported: honest.reported(), arrived: count }
    await delay(200)
  }
}
