// Looks rows up by their keys. To send a statement costs more than to find a row: look-ups of one moment share one.
import type { Pool } from 'pg'
import { batcher } from './batcher.js'
import { isAboutData } from './problems/about-data.js'

export interface LookUp {
  /** Of the prepared statement. */
  name: string
  /** Of the parameters. */
  types: readonly string[]
  /** Finds one row by $1, $2, and so on, or none. */
  text: string
}

type Find = (values: readonly unknown[]) => Promise<object | undefined>

/** Rows of one statement; they may be large. */
const mostAtOnce = 32

/** So many statements of a kind at once: one on a connection that died silently does not stop the others. */
const lanes = 2

const finders = new WeakMap<Pick<Pool, 'query'>, Map<string, Find>>()

/** The row that is found by these values, as of a statement that begins after it was asked. */
export async function lookUp<Row extends object> (
  db: Pick<Pool, 'query'>, what: LookUp, values: readonly unknown[]
): Promise<Row | undefined> {
  const ofDb = finders.get(db) ?? new Map<string, Find>()
  finders.set(db, ofDb)
  const find = ofDb.get(what.name) ?? finder(db, what)
  ofDb.set(what.name, find)
  // The text of the look-up says what its rows are.
  return await find(values) as Row | undefined
}

function finder (db: Pick<Pool, 'query'>, { name, types, text }: LookUp): Find {
  const shared = sharedText(types, text)
  const findAll = async (asked: Array<readonly unknown[]>) => {
    const columns = types.map((_, nth) => asked.map((values) => values[nth]))
    const { rows } = await db.query<{ nth: string }>({ name, text: shared, values: columns })
    const found = new Map(rows.map(({ nth, ...row }) => [Number(nth), row]))
    return new Map(asked.map((values, index) => [values, { row: found.get(index + 1) }]))
  }
  const find = batcher<readonly unknown[], { row: object | undefined }>({
    runBatch: findAll,
    runOne: async (values) => (await findAll([values])).get(values) ?? { row: undefined },
    isOfOne: isAboutData,
    limit: mostAtOnce,
    lanes
  })
  return async (values) => (await find(values)).row
}

/**
 * Postgres does not see how many there are when it plans: else it would plan anew each time, for so many. `LIMIT` keeps
 * it to an index for each, as few as the rows may be while it plans.
 */
function sharedText (types: readonly string[], text: string): string {
  const arrays = types.map((type, nth) => `(SELECT $${nth + 1}::${type}[])`)
  const columns = types.map((_, nth) => `value_${nth + 1}`)
  return `
    SELECT nth, found.*
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS asked (${columns.join(', ')}, nth)
    CROSS JOIN LATERAL (${text.replace(/\$(\d+)/g, 'asked.value_$1')} LIMIT 1) found`
}
