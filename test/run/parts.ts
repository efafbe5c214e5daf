// `npm run chaos` and `npm run scale`: the tests that `npm test` runs in a short form, at their whole length and in
// parts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

interface Part {
  files: string[]
  env?: Record<string, string>
  /** Only the tests whose titles match. */
  grep?: string
}

const chaosOfWebhooks = ['test/flow/webhooks/webhook-chaos.test.ts']
const personsAtOnce = ['test/flow/person/at-once/two-erasures.test.ts']
const rounds = { CHAOS_ROUNDS: process.env.CHAOS_ROUNDS ?? '200' }

/** Each takes an hour at most on two cores. */
const lists: Record<string, Record<string, Part>> = {
  chaos: {
    'event-store': {
      files: ['chaos', 'model'].map((name) => `packages/embedded-event-store/test/${name}.test.ts`), env: rounds
    },
    'webhooks-postgres': { files: chaosOfWebhooks, env: rounds, grep: '/queue in Postgres/' },
    'webhooks-redis': { files: chaosOfWebhooks, env: rounds, grep: '/queue in Redis/' },
    flow: {
      files: ['kill', 'rolling-restart', 'commands/concurrency', 'commands/read-your-write'].map((name) => `test/flow/${name}.test.ts`)
    },
    copy: { files: ['test/cli/events/kill.test.ts', 'packages/event-transfer/test/export.test.ts'] },
    workers: {
      files: ['queue/killed', 'queue/emptied', 'stranded'].map((name) => `test/workers/${name}.test.ts`)
    },
    outcomes: { files: ['test/workers/deliver/kept-outcomes.test.ts'] },
    imports: { files: ['test/flow/imports/killed-imports.test.ts', 'test/workers/background'] },
    persons: {
      files: [
        'killed-steps.test.ts', 'killed-erasures.test.ts', 'erased-histories.test.ts', 'generations', 'at-once/asked-again.test.ts'
      ].map((name) => `test/flow/person/${name}`)
    },
    'persons-at-once': { files: personsAtOnce, grep: '/^(?!persons where)/' },
    'persons-of-one-lead': { files: personsAtOnce, grep: '/^persons where|^nothing/' },
    projections: { files: ['killed', 'model'].map((name) => `test/projections/engine/${name}.test.ts`) },
    replay: { files: ['test/projections/replay/replay-kill.test.ts'] },
    fuzz: { files: ['test/http/fuzz'] }
  },
  scale: {
    plans: {
      files: ['own-plans', 'plans'].map((name) => `test/queries/${name}.test.ts`),
      env: { PLAN_ROWS: process.env.PLAN_ROWS ?? '1000000' }
    },
    fairness: { files: ['test/workers/queue/fairness.test.ts'] },
    sender: { files: ['test/workers/deliver/no-growth.test.ts'] },
    'open-snapshot': { files: ['test/workers/queue/open-snapshot.test.ts'] },
    moves: { files: ['test/workers/deliveries/moves.test.ts'] },
    import: { files: ['test/flow/imports/import-scale.test.ts'] },
    disk: { files: ['test/workers/deliveries/kept/disk.test.ts'] }
  }
}

const partSeconds = 3_600
const [list = '', ...names] = process.argv.slice(2)
const parts = lists[list] ?? {}
if (names.includes('--list')) for (const name of Object.keys(parts)) process.stdout.write(`${name}\n`)
else for (const name of names.length > 0 ? names : Object.keys(parts)) await run(name)

async function run (name: string): Promise<void> {
  const part = parts[name]
  if (!part) throw new Error(`There is no part ${name}: there are ${Object.keys(parts).join(', ')}`)
  process.stdout.write(`\n${list}: ${name}\n`)
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  const grep = part.grep === undefined ? [] : ['--grep', part.grep]
  const args = [main, '--jobs', '1', '--timeout', String(partSeconds), ...grep, ...part.files]
  const env = { ...process.env, TESTS_AT_LENGTH: '1', ...part.env }
  const child = spawn(process.execPath, args, { stdio: 'inherit', env })
  const [status] = await once(child, 'exit') as [number | null]
  if (status !== 0) process.exitCode = 1
}
