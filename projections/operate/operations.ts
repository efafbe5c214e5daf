// What an operator can do to a projection: the same from the command line and from the pages, told in the same words.
import { setFlagsFromString } from 'node:v8'
import type { Projection } from '../engine/projection.js'
import { pauseProjection, resumeProjection } from '../parking/pause.js'
import { drop } from '../replay/drop.js'
import { activeGeneration } from '../generations/generations.js'
import type { OperationOptions } from '../replay/options.js'
import { ReplayRefused } from '../generations/refused.js'
import { replay } from '../replay/replay.js'
import { rollback } from '../replay/rollback.js'
import { describe } from '../replay/verify/difference.js'
import { usualSample, verifyAgainstLog, type Verified } from '../replay/verify/verify.js'

/** What may be asked for with an operation; each takes what concerns it. */
export interface OperationInput {
  /** Of a replay: swap although rows differ from those that readers see. */
  acceptDifferences?: boolean | undefined
  /** To drop: only this generation, whatever its state. */
  generation?: number | undefined
  /** To verify: rows of each table. */
  sample?: number | undefined
  /** To verify: the same seed, the same sample. */
  seed?: number | undefined
}

export interface Operation {
  /** For the operator, when it is broken off. */
  stopped: string
  /** @returns what became of it, for people. @throws ReplayRefused, BrokenOff */
  run (projection: Projection, options: OperationOptions, input: OperationInput): Promise<string>
}

export type Action = 'replay' | 'pause' | 'resume' | 'verify' | 'rollback' | 'drop'

export const operations: Readonly<Record<Action, Operation>> = {
  replay: {
    stopped: 'The replay was stopped; readers see what they saw. ' +
      'Run the same command again to go on where it stands, or see `ringledger projections list`.',
    async run (projection, options, { acceptDifferences }) {
      // Nearly all that a replay allocates is garbage soon. By default V8 lets a small heap grow to four times its use.
      setFlagsFromString('--heap-growing-percent=100')
      const began = Date.now()
      const generation = await replay(projection, { ...options, acceptDifferences })
      const seconds = ((Date.now() - began) / 1000).toFixed(1)
      const { name } = projection
      return `Replayed ${name} in ${seconds} s; readers see generation ${generation} now. The former one is kept level ` +
        `for \`ringledger projections rollback ${name}\`, until \`ringledger projections drop ${name}\`.`
    }
  },
  pause: {
    stopped: 'The command was stopped.',
    async run (projection, { pool }) {
      const { name } = projection
      if (!await pauseProjection(pool, projection)) throw new ReplayRefused(`${name} is paused already.`)
      return `${name} is paused within a second: readers see what they saw, and the log waits. ` +
        `\`ringledger projections resume ${name}\` lets it go on.`
    }
  },
  resume: {
    stopped: 'The command was stopped.',
    async run (projection, { pool }) {
      const { name } = projection
      if (await resumeProjection(pool, projection)) return `${name} goes on within a second, where it stood.`
      throw new ReplayRefused(`${name} is not paused. If it stands still because it refused too many streams: ` +
        `\`ringledger projections quarantine resume ${name}\`.`)
    }
  },
  verify: {
    stopped: 'The verification was stopped.',
    async run (projection, options, { sample: rows = usualSample, seed }) {
      const { name } = projection
      const generation = await activeGeneration(options.pool, projection)
      const onProgress = (events: number, done: number) => options.onProgress?.({ doing: name, events, done })
      const sample = { rows, ...(seed !== undefined && { seed }) }
      const verified = await verifyAgainstLog(projection, generation, sample, { ...options, onProgress })
      if (verified.differences.length > 0) throw differ(name, verified, options.showsValues)
      return `The rows of ${name} are as they should be: ${verified.found} has the same as ${verified.how}.`
    }
  },
  rollback: {
    stopped: 'The command was stopped; the swap is made all the same, by the next projector that can.',
    async run (projection, options) {
      const generation = await rollback(projection, options)
      const { name } = projection
      return `Readers of ${name} see generation ${generation} again. ` +
        `\`ringledger projections rollback ${name}\` goes back to the other one.`
    }
  },
  drop: {
    stopped: 'The command was stopped: run it again to finish.',
    async run (projection, options, { generation }) {
      const dropped = await drop(projection, generation, options)
      return `Dropped of ${projection.name}: generation ${dropped.join(', ')}.`
    }
  }
}

function differ (name: string, verified: Verified, showsValues?: boolean): ReplayRefused {
  return new ReplayRefused([
    `${verified.found} of ${name} and ${verified.expected} differ, at least in these rows (${verified.how}):`,
    ...verified.differences.map((difference) => `  ${describe(difference, verified, showsValues)}`),
    `To build the rows anew: ringledger projections replay ${name} --accept-differences`
  ].join('\n'))
}
