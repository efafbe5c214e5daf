// Whether anything was lost, doubled or unaccounted while nodes were killed.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Drilled } from '../../../bench/drill/report.js'
import { packageRoot } from '../../../src/package-root.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { collect, scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { eventStoreCluster } from '../../support/cluster/cluster.js'
import { eventually } from '../../support/eventually.js'
import { dataDir } from '../../support/ringledger.js'

type Report = Drilled & { problems: string[] }

/** Runs it to its end; `onPause` is called when it says that nodes may be killed, and Enter is pressed after that. */
async function drill (t: Test, args: Record<string, string>, onPause = async () => {}) {
  const json = join(dataDir(t), 'report.json')
  const options = Object.entries({ ...args, json }).flatMap(([name, value]) => [`--${name}`, value])
  const variables = [`PATH=${process.env.PATH}`, `HOME=${process.env.HOME}`]
  const main = join(packageRoot, 'dist/bench/drill.js')
  const child = spawn('env', ['-i', ...variables, process.execPath, main, ...options], { stdio: ['pipe', 'pipe', 'pipe'] })
  t.teardown(() => { child.kill('SIGKILL') })
  const said = { stdout: '', stderr: '' }
  let paused: Promise<void> | undefined
  const pause = async () => {
    await onPause()
    child.stdin.write('\n')
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => { said.stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text
    if (said.stderr.includes('NOW kill nodes')) paused ??= pause()
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  await paused
  const report: Report | undefined = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : undefined
  return { code, report, ...said }
}

t.test('a leader is killed under load and comes back: nothing is lost, doubled or unaccounted', async (t) => {
  const log = await scratchEventStore(t)
  const cluster = await eventStoreCluster(t, log.store)
  const database = (await scratchPostgres(t, 'empty')).url
  const redis: { redis?: string } = noRedis() ? {} : { redis: (await scratchRedis(t)).url }
  const { members: [leader] } = cluster
  const servers = { eventstore: cluster.url, database, ...redis }
  const { code, report, stdout, stderr } = await drill(t, { ...servers, minutes: '0.04' }, async () => {
    leader.answersAfterMs = 2_000
    await eventually(() => leader.unanswered > 3) // a worker's marker is one of them at most
    await leader.stop()
    leader.answersAfterMs = 0
    cluster.elect(1)
    await eventually(() => (cluster.members[1]?.taken.append ?? 0) > 0)
    await leader.start()
    await eventually(async () =>
      (await collect(log.client.readAll())).filter(({ event }) => /^lead-10[012]/.test(event?.streamId ?? '')).length > 50)
  })
  t.equal(code, 0, `${stdout}${stderr}`)
  t.strictSame(report?.problems, [])
  t.match(stdout, /second attempt/, 'the walk')
  t.match(stdout, /^It holds\.$/m)
  const { commands, log: inLog, reads, webhooks, checks } = report ?? {}
  t.ok(commands && commands.sent > 50, `${commands?.sent} commands`)
  t.equal(commands?.acknowledged, commands?.sent)
  t.equal(inLog?.found, commands?.sent)
  t.ok(reads && reads.asked > 20)
  t.equal(webhooks?.received, webhooks?.calls)
  t.strictSame(checks?.map(({ command }) => command), [
    'projections verify assistants', 'projections verify leads', 'projections verify calls', 'projections verify catalog',
    'projections verify keys', 'webhooks stats'
  ])
})
