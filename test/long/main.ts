// `npm run test:long [-- PART…]` runs parts, one after the other; `--list` shows them, `--touched [BASE]` those that
// guard what changed since a commit.
import { spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packageRoot } from '../../src/package-root.js'
import { type Part, parts } from './parts.js'

const { values, positionals } = parseArgs({
  allowPositionals: true, options: { list: { type: 'boolean' }, touched: { type: 'boolean' } }
})
if (values.list) show(parts)
else if (values.touched) show(touched(positionals[0]))
else await runAll(positionals.length > 0 ? positionals : parts.map(({ name }) => name))

function show (some: Part[]): void {
  for (const { name, minutes, guards } of some) {
    process.stdout.write(`${name.padEnd(21)} ${String(minutes).padStart(2)} min  ${guards.join(' ')}\n`)
  }
}

/** Without BASE: since the branch left origin/main, or, on that, since the commit before. */
function touched (base?: string): Part[] {
  const changed = base === undefined
    ? [mergeBase(), 'HEAD~1'].map(changedSince).find((files) => files.length > 0) ?? []
    : changedSince(base)
  return parts.filter(({ guards, files = [] }) =>
    [...guards, ...files].some((guard) => changed.some((file) => file === guard || file.startsWith(`${guard}/`))))
}

function mergeBase (): string {
  const [base = ''] = git('merge-base', 'origin/main', 'HEAD')
  return base
}

/** With what is not committed. Nothing when there is no such commit. */
function changedSince (commit: string): string[] {
  return commit === '' ? [] : git('diff', '--name-only', commit)
}

function git (...args: string[]): string[] {
  const { stdout } = spawnSync('git', ['-c', 'safe.directory=*', ...args], { cwd: packageRoot, encoding: 'utf8' })
  return (stdout ?? '').split('\n').filter(Boolean)
}

async function runAll (names: string[]): Promise<void> {
  const chosen = names.map((name) => parts.find((part) => part.name === name) ?? unknown(name))
  for (const part of chosen) await run(part)
}

function unknown (name: string): never {
  process.stderr.write(`There is no part ${name}. There are: ${parts.map((part) => part.name).join(', ')}\n`)
  process.exit(1)
}

async function run ({ name, files = [], program, env, minutes }: Part): Promise<void> {
  const startedAt = performance.now()
  const seed = String(randomInt(2 ** 31))
  process.stdout.write(`\n=== ${name}, ${minutes} minutes at most (CHAOS_SEED=${seed} FUZZ_SEED=${seed})\n`)
  const runner = fileURLToPath(new URL('../run/main.js', import.meta.url))
  const [command = '', ...args] = program ?? [runner, '--jobs', '1', '--timeout', String(minutes * 60), ...files]
  const isShell = command.endsWith('.sh')
  const child = spawn(isShell ? 'bash' : process.execPath, [command, ...args], {
    cwd: packageRoot,
    stdio: 'inherit',
    // On the disk: what is written here does not fit into memory.
    env: { CHAOS_SEED: seed, FUZZ_SEED: seed, ...process.env, TMPDIR: tmpdir(), ...env }
  })
  const [status] = await once(child, 'exit') as [number | null]
  if (status !== 0) process.exitCode = 1
  const took = ((performance.now() - startedAt) / 60_000).toFixed(1)
  process.stdout.write(`=== ${name}: ${status === 0 ? 'ok' : 'FAILED'}, ${took} of ${minutes} minutes\n`)
}
