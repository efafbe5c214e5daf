// Measures everything beside its limits, and writes bench/results.json: `npm run bench`, `npm run bench -- --quick`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Found } from './entry.js'
import { parts, argsOf, type Part } from './parts.js'
import { table } from './table.js'
import { packageRoot } from '../../src/package-root.js'
import { run } from '../support/run.js'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: parts.map(({ name }) => name).join(',') },
    out: { type: 'string', default: join(packageRoot, 'bench/results.json') }
  }
})
const chosen = options.only.split(',').map((name) => {
  const part = parts.find((known) => known.name === name)
  if (!part) throw new Error(`there is no bench ${name}: there are ${parts.map((each) => each.name).join(', ')}`)
  return part
})
const say = (line: string) => process.stderr.write(`${line}\n`)

const found: Found = { measurements: [], missing: [] }
for (const part of chosen) {
  const { measurements, missing } = await measure(part)
  found.measurements.push(...measurements)
  found.missing.push(...missing)
}
const sound = found.measurements.filter(({ entry }) => Number.isFinite(entry.ours))
for (const { entry: { name } } of found.measurements.filter((each) => !sound.includes(each))) {
  found.missing.push({ name, reason: 'the bench gave no figure' })
}
writeFileSync(options.out, `${JSON.stringify(sound.map(({ entry }) => entry), null, 2)}\n`)
const quickNote = 'A quick run: its figures are rough, and those of few events do not show what grows.\n'
process.stdout.write(`${table(sound, found.missing)}${options.quick ? quickNote : ''}Written to ${options.out}\n`)
process.exitCode = sound.length > 0 ? 0 : 1

/** Of a bench that fails nothing is taken: the others go on. */
async function measure ({ name, full, quick, read }: Part): Promise<Found> {
  const args = options.quick ? quick : full
  if (args === undefined) return { measurements: [], missing: [{ name, reason: 'left out of a quick run' }] }
  const from = performance.now()
  const program = fileURLToPath(new URL(`../${name}.js`, import.meta.url))
  const tell = (text: string) => { for (const line of text.split('\n').filter(Boolean)) say(`  ${line}`) }
  say(`${name} ${args}`)
  try {
    const { stdout } = await run([program, '--json', ...argsOf(args)], {}, tell)
    return read(stdout)
  } catch (error) {
    return { measurements: [], missing: [{ name, reason: firstLine(error) }] }
  } finally {
    say(`  ${Math.round((performance.now() - from) / 1_000)} s`)
  }
}

/** The error itself, of all that a program has printed. */
function firstLine (error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n')
  return lines.find((line) => /^\w*(Error|Unknown|Refused|Unavailable)\b.*:/.test(line)) ?? lines[0] ?? 'it failed'
}
