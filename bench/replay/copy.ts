// What Postgres alone needs for the rows of a projection: COPY from a file of its own, then the indexes.
import type { Pool } from 'pg'
import { activeGeneration, schemaOf } from '../../projections/generations/generations.js'
import type { Projection } from '../../projections/folding/projection.js'

export interface Copied {
  rows: number
  copySeconds: number
  indexSeconds: number
}

/** Copies the rows that readers see into bare tables and drops those again. */
export async function copyRows (pool: Pool, projection: Projection): Promise<Copied> {
  const schema = schemaOf(projection, await activeGeneration(pool, projection))
  const { rows: [server] } = await pool.query<{ folder: string }>("select current_setting('data_directory') as folder")
  const copied = { rows: 0, copySeconds: 0, indexSeconds: 0 }
  await pool.query('create schema bench')
  for (const { name, key, indexes = [] } of projection.tables) {
    const file = `'${server?.folder}/bench-rows'`
    await pool.query(`copy ${schema}.${name} to ${file} (format binary)`)
    await pool.query(`create table bench.${name} (like ${schema}.${name})`)
    copied.copySeconds += await seconds(async () => {
      const { rowCount } = await pool.query(`copy bench.${name} from ${file} (format binary)`)
      copied.rows += rowCount ?? 0
    })
    copied.indexSeconds += await seconds(async () => {
      await pool.query(`alter table bench.${name} add primary key ("${key}")`)
      for (const index of indexes) await pool.query(`create index on bench.${name} ${index}`)
    })
  }
  await pool.query('drop schema bench cascade')
  return copied
}

async function seconds (work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1_000
}
