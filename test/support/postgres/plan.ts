// How Postgres goes about a question.
import type { Pool } from 'pg'

/**
 * The nodes of the plan of what `read` asks, as `<type> on <relation>`; what an index is asked as `Index Cond: …`.
 * Of what is prepared those of the plan that is kept for all values, too.
 */
export async function planOf (pool: Pool, read: (db: Pool) => Promise<unknown>): Promise<string[]> {
  const nodes: string[] = []
  const explaining = Object.create(pool, {
    query: {
      value: async (question: string | Question, values: unknown[] = []) => {
        const { name, text, values: given } = typeof question === 'string' ? { text: question, values } : question
        collect(await explained(pool, 'FORMAT JSON', text, given), nodes)
        if (name !== undefined) collect(await explained(pool, 'GENERIC_PLAN, FORMAT JSON', text), nodes)
        return await pool.query(text, given)
      }
    }
  })
  await read(explaining)
  return nodes
}

/** How many pages of tables and indexes Postgres reads for what `read` asks. */
export async function pagesRead (pool: Pool, read: (db: Pool) => Promise<unknown>): Promise<number> {
  let pages = 0
  const counting = Object.create(pool, {
    query: {
      value: async (question: string | Question, values: unknown[] = []) => {
        const { text, values: given } = typeof question === 'string' ? { text: question, values } : question
        const answer = await explained(pool, 'ANALYZE, BUFFERS, FORMAT JSON', text, given)
        const [{ Plan: plan }] = answer as [{ Plan: Record<string, number> }]
        pages += (plan['Shared Hit Blocks'] ?? NaN) + (plan['Shared Read Blocks'] ?? NaN)
        return await pool.query(text, given)
      }
    }
  })
  await read(counting)
  return pages
}

interface Question { name?: string, text: string, values: unknown[] }

async function explained (pool: Pool, options: string, text: string, values?: unknown[]): Promise<unknown> {
  const { rows: [row] } = await pool.query<{ 'QUERY PLAN': unknown }>(`EXPLAIN (${options}) ${text}`, values)
  return row?.['QUERY PLAN']
}

function collect (node: unknown, nodes: string[]): void {
  if (typeof node !== 'object' || node === null) return
  if ('Node Type' in node && 'Relation Name' in node) nodes.push(`${node['Node Type']} on ${node['Relation Name']}`)
  if ('Index Cond' in node) nodes.push(`Index Cond: ${node['Index Cond']}`)
  for (const inner of Object.values(node)) collect(inner, nodes)
}

/** Of three reads, in milliseconds. The slower ones other programs may have slowed down. */
export async function fastestOf (read: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  while (took.length < 3) {
    const startedAt = performance.now()
    await read()
    took.push(performance.now() - startedAt)
  }
  return Math.round(Math.min(...took))
}
