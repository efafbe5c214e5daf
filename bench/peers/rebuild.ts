// How fast each makes its rows of leads anew from the same log.
import { projections } from '../../projections/index.js'
import type { Scene } from '../support/scene.js'
import { ringledger, run } from '../support/run.js'
import { moduleOf } from './contenders.js'

export interface Rebuilt { contender: string, events: number, seconds: number }

/** With the comparison of all rows and the swap, as an operator does it. */
export async function rebuildRingledger (scene: Scene): Promise<Rebuilt> {
  const types = projections.find(({ name }) => name === 'leads')?.eventTypes
  const events = await scene.withPool(async (pool) =>
    (await pool.query('SELECT FROM eventstore.events WHERE type = ANY ($1)', [types])).rowCount ?? 0)
  const { seconds } = await run(ringledger('projections', 'replay', 'leads'), scene.env)
  return { contender: 'Ringledger', events, seconds }
}

/** The consumer from the beginning of $all, into an empty table. */
export async function rebuildEmmett (scene: Scene): Promise<Rebuilt> {
  const written = await scene.withPool(async (pool) => {
    const { rowCount } = await pool.query("SELECT FROM eventstore.events WHERE type = 'PeerLeadCreated'")
    await pool.query('TRUNCATE peer.leads')
    return rowCount ?? 0
  })
  const startedAt = performance.now()
  const consumer = await scene.startModule(moduleOf('emmett-eventstoredb/projector.js'), { FROM: 'BEGINNING' })
  await scene.withPool(async (pool) => {
    while ((await pool.query('SELECT FROM peer.leads')).rowCount !== written) await pause()
  })
  const seconds = (performance.now() - startedAt) / 1_000
  await consumer.close()
  return { contender: 'Emmett on EventStoreDB', events: written, seconds }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 200))
