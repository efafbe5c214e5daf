// Batches single calls: calls that arrive while one batch runs form the next. Sending a statement costs more than
// finding a row, so concurrent look-ups share one statement.
import { setImmediate as arrived } from 'node:timers/promises'
import type { Pool } from 'pg'
import { isAboutData } from './problems.js'

interface BatcherOptions<Item, Answer> {
  /** The answers, in the order of the items. */
  runBatch (items: Item[]): Promise<Answer[]>
  /** Gets the error of a failed batch. */
  onError? (error: unknown): void
  /** Whether a single item may cause the error: then each runs alone, else all fail. */
  isOfOne (error: unknown): boolean
  /** Most items of a batch. */
  limit: number
  /** Concurrent batches; 1 when absent. */
  lanes?: number
}

/**
 * Runs up to `lanes` batches at a time. A batch takes everything that arrived while the ones before it ran, so a single
 * caller never waits. An error of one item does not fail the others.
 */
export function batcher<Item, Answer> (options: BatcherOptions<Item, Answer>): (item: Item) => Promise<Answer> {
  const { runBatch, onError, isOfOne, limit, lanes = 1 } = options
  const waiting: { item: Item, resolve (answer: Answer | Promise<Answer>): void }[] = []
  let running = 0

  return (item) => new Promise((resolve) => {
    waiting.push({ item, resolve })
    if (running < lanes) void run()
  })

  async function run (): Promise<void> {
    running++
    await arrived() // lets requests of the same packet join the batch
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limit)
      const answerOf = await runBatch(batch.map(({ item }) => item)).then(answered, failed)
      for (const [index, { item, resolve }] of batch.entries()) resolve(answerOf(item, index))
    }
    running--
  }

  type AnswerOf = (item: Item, index: number) => Answer | Promise<Answer>

  function answered (answers: Answer[]): AnswerOf {
    return (_item, index) => answers[index] as Answer // each item has one
  }

  function failed (error: unknown): AnswerOf {
    onError?.(error)
    return async (item) => {
      if (isOfOne(error)) return await runBatch([item]).then(([answer]) => answer as Answer)
      throw error
    }
  }
}

export interface LookUp {
  /** Names the prepared statement. */
  name: string
  /** Parameter types, in order. */
  types: readonly string[]
  /** Selects at most one row by $1, $2, and so on. */
  text: string
  /** Most rows of one statement. */
  limit?: number
}

type Find = (values: readonly unknown[]) => Promise<object | undefined>

/** Rows may be large. */
const mostAtOnce = 32

/** Concurrent statements of a kind: one on a silently dead connection does not stop the others. */
const lanes = 2

const finders = new WeakMap<Pick<Pool, 'query'>, Map<string, Find>>()

/** The row with these values, read by a statement that begins after the call. */
export async function lookUp<Row extends object> (
  db: Pick<Pool, 'query'>, what: LookUp, values: readonly unknown[]
): Promise<Row | undefined> {
  const ofDb = finders.get(db) ?? new Map<string, Find>()
  finders.set(db, ofDb)
  const find = ofDb.get(what.name) ?? finder(db, what)
  ofDb.set(what.name, find)
  // The text of the look-up determines the type of its rows.
  return await find(values) as Row | undefined
}

function finder (db: Pick<Pool, 'query'>, { name, types, text, limit = mostAtOnce }: LookUp): Find {
  const shared = sharedText(types, text)
  return batcher<readonly unknown[], object | undefined>({
    async runBatch (asked) {
      const columns = types.map((_, nth) => asked.map((values) => values[nth]))
      const { rows } = await db.query<{ nth: string }>({ name, text: shared, values: columns })
      const found = new Map(rows.map(({ nth, ...row }) => [Number(nth), row]))
      return asked.map((_, index) => found.get(index + 1))
    },
    isOfOne: isAboutData,
    limit,
    lanes
  })
}

/**
 * Hides the array's length from the planner: else Postgres would plan each statement anew for its length. `LIMIT` makes
 * it use an index for each item, however few rows the table has when Postgres plans.
 */
function sharedText (types: readonly string[], text: string): string {
  const arrays = types.map((type, nth) => `(SELECT $${nth + 1}::${type}[])`)
  const columns = types.map((_, nth) => `value_${nth + 1}`)
  return `
    SELECT nth, found.*
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS asked (${columns.join(', ')}, nth)
    CROSS JOIN LATERAL (${text.replace(/\$(\d+)/g, 'asked.value_$1')} LIMIT 1) found`
}
