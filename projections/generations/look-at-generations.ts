// Looks for the generations of a projection, in one statement with those of all others that are looked for by then.
import type { Pool } from 'pg'
import { batcher } from '../../src/postgres/batcher.js'
import { generationsSql, type Generation } from './generations.js'

type Look = (projection: string) => Promise<Generation[]>

const looks = new WeakMap<Pool, Look>()

/** Every generation that there is, the oldest first. */
export async function lookAtGenerations (pool: Pool, projection: string): Promise<Generation[]> {
  const look = looks.get(pool) ?? batcher({ ...batchesOn(pool), limit: 100 })
  looks.set(pool, look)
  return await look(projection)
}

function batchesOn (pool: Pool) {
  return {
    async runBatch (names: string[]): Promise<Map<string, Generation[]>> {
      const { rows } = await pool.query<Generation & { projection: string }>({
        name: 'generations', text: generationsSql, values: [names]
      })
      return new Map(names.map((name) => [name, rows.filter(({ projection }) => projection === name)]))
    },
    runOne: async () => [],
    isOfOne: () => false // what fails fails for all of them
  }
}
