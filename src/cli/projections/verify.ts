// `ringledger projections verify NAME`: compares rows that readers see with what the log gives.
import type { Command } from 'commander'
import type { Verified } from '../../../projections/replay/verify/verify.js'
import { say } from '../running/output.js'
import { positive } from '../values.js'

interface VerifyOptions {
  sample: number
  seed?: number
}

export function register (projections: Command): void {
  projections.command('verify')
    .argument('<name>')
    .description('compare a sample of the rows that readers see with the log')
    .option('--sample <n>', 'rows of each table', positive, 1_000)
    .option('--seed <n>', 'the same seed, the same sample', positive)
    .action(verifyProjection)
}

async function verifyProjection (name: string, { sample: rows, seed }: VerifyOptions): Promise<void> {
  const { projectionNamed } = await import('./projection-named.js')
  const projection = projectionNamed(name)
  const [{ onGenerations }, { activeGeneration }, { verifyAgainstLog }] = await Promise.all([
    import('./on-generations.js'),
    import('../../../projections/replay/generations.js'),
    import('../../../projections/replay/verify/verify.js')
  ])
  const verified = await onGenerations('verify', 'The verification was stopped.', async (options) => {
    const generation = await activeGeneration(options.pool, projection)
    const onProgress = (events: number, done: number) => options.onProgress?.({ doing: name, events, done })
    const sample = { rows, ...(seed !== undefined && { seed }) }
    return await verifyAgainstLog(projection, generation, sample, { ...options, onProgress })
  })
  if (verified.differences.length > 0) throw await refusal(name, verified)
  say(`The rows of ${name} are as they should be: ${verified.found} has the same as ${verified.how}.`)
}

async function refusal (name: string, verified: Verified): Promise<Error> {
  const [{ describe }, { ReplayRefused }] = await Promise.all([
    import('../../../projections/replay/verify/difference.js'), import('../../../projections/replay/refused.js')
  ])
  return new ReplayRefused([
    `${verified.found} of ${name} and ${verified.expected} differ, at least in these rows (${verified.how}):`,
    ...verified.differences.map((difference) => `  ${describe(difference, verified)}`),
    `To build the rows anew: ringledger projections replay ${name} --accept-differences`
  ].join('\n'))
}
