// Calls are reported while roles and back ends are killed with kill -9: no webhook is lost or made up.
import t, { type Test } from 'tap'
import { callLoad, type CallLoad } from '../../support/scenes/call-load.js'
import { chaos, type Chaos } from '../../support/chaos.js'
import { noRedis, scratchRedis, type ScratchRedis } from '../../support/back-ends/redis.js'
import {
  everyCallIsAccountedFor, everyWebhookIsRight, quietWithinMs, readersSeeEveryCall, settled
} from '../../support/scenes/webhook-accounts.js'
import { standsStillAfterMs, until, webhookScene, type Scene } from '../../support/scenes/webhook-scene.js'

const usualRounds = 120
/** So that what stands still can say so. */
const restMs = 2 * standsStillAfterMs + 2 * quietWithinMs

t.jobs = 2 // at the end both mostly wait
const [onPostgres, onRedis] =
  ['Postgres', 'Redis'].map((queue) => chaos(t, `webhooks, queue in ${queue}`, usualRounds, restMs)) as [Chaos, Chaos]
const title = ({ rounds, seed }: Chaos, queue: string) =>
  `with the queue in ${queue} every call is accounted for after ${rounds} rounds of kill -9 (CHAOS_SEED=${seed})`
t.test(title(onPostgres, 'Postgres'), { timeout: onPostgres.timeout }, (t) => webhooksSurvive(t, onPostgres))
t.test(title(onRedis, 'Redis'), { timeout: onRedis.timeout, skip: noRedis() }, async (t) =>
  webhooksSurvive(t, onRedis, await scratchRedis(t)))

async function webhooksSurvive (t: Test, chaos: Chaos, redis?: ScratchRedis): Promise<void> {
  const beganAt = Date.now()
  const seconds = () => Math.round((Date.now() - beganAt) / 1000)
  const scene = await webhookScene(t, redis)
  const { api, client, roles } = scene.stack
  const load = callLoad({
    seed: chaos.seed,
    client,
    apiUrl: api.url,
    assistants: [...scene.targets.values()]
      .flatMap(({ assistant, delivers }) => Array<number>(delivers ? 3 : 1).fill(assistant))
  })
  const [upAfter, taken] = [seconds(), await shaken(scene, load, chaos)]
  await load.stop()
  await scene.stack.isUp()
  const shakenAfter = seconds()
  await scene.revive()
  const { calls, events } = await settled(scene)
  t.comment(
    `up after ${upAfter} s, shaken until ${shakenAfter} s, quiet after ${seconds()} s; killed: ${taken.join(', ')}`
  )

  await everyCallIsAccountedFor(t, scene, load, calls, events)
  await everyWebhookIsRight(t, scene, calls)
  await readersSeeEveryCall(t, scene, calls)
  t.same(roles.flatMap(({ deaths }) => deaths), [], 'no role ended but by a kill')
}

/** Rounds of load and kills; every way comes once before one comes again. @returns the ways taken */
async function shaken (
  scene: Scene, { acknowledged: { byHttp, byEvent } }: CallLoad, { rounds, pick, instant, roundIsOver }: Chaos
): Promise<string[]> {
  const { stack: { ways }, received } = scene
  const taken: string[] = []
  for (let left: string[] = []; taken.length < rounds;) {
    const [http, event, requests] = [byHttp.length, byEvent.length, received.length]
    await until(
      scene, `acknowledging and delivering after ${taken.at(-1) ?? 'the start'}`,
      () => byHttp.length > http + 5 && byEvent.length > event + 5 && received.length > requests, standsStillAfterMs,
      20
    )
    await instant(400)
    if (left.length === 0) left = Object.keys(ways)
    const name = pick(left)
    left = left.filter((other) => other !== name)
    taken.push(name)
    await ways[name]?.()
    roundIsOver(`${byHttp.length + byEvent.length} calls acknowledged, ${received.length} requests received`)
  }
  return taken
}
