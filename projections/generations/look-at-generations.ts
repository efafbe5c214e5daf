// Looks for the generations of a projection, in one statement with those of all others that are looked for by then.
import { askedTogether } from '../../src/postgres/asked-together.js'
import { generationsSql, type Generation } from './generations.js'

/** Every generation that there is of a projection, the oldest first. */
export const lookAtGenerations = askedTogether(async (pool, names: string[]): Promise<Map<string, Generation[]>> => {
  const { rows } = await pool.query<Generation & { projection: string }>({
    name: 'generations', text: generationsSql, values: [names]
  })
  return new Map(names.map((name) => [name, rows.filter(({ projection }) => projection === name)]))
})
