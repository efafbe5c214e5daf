// What a start looks for, to tell the operator of it in the log.
import type { Logger } from 'pino'
import { projections } from '../../projections/index.js'
import { outdated } from '../../projections/generations/generations.js'
import { activeCheckpoint } from '../../projections/generations/views.js'
import { findLimitedStreams } from '../recovery/limited-streams.js'
import type { ReadUpTo } from '../recovery/other-log.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import type { Connections } from './connections.js'

/** Read models of another version, and streams of ours that lose events. */
export async function lookAtStart (connections: Connections, log: Logger): Promise<void> {
  await warnOfOldGenerations(connections, log)
  await tellLimitedStreams(connections, log)
}

async function warnOfOldGenerations ({ pool }: Connections, log: Logger): Promise<void> {
  for (const each of await outdated(pool, projections)) {
    log.warn(each, 'a read model was folded by another version of its projection: replay it')
  }
}

async function tellLimitedStreams ({ streams }: Connections, log: Logger): Promise<void> {
  for (const { problem, ...about } of await findLimitedStreams(streams)) log.error(about, problem)
}

/** How far each read model has read the log. */
export async function projectionCheckpoints ({ pool }: Pick<Connections, 'pool'>): Promise<ReadUpTo[]> {
  return await Promise.all(projections.map(async ({ name }) => {
    const position = await readCheckpoint(pool, activeCheckpoint(name))
    return { name: `the projection ${name}`, position }
  }))
}
