// How Postgres goes about a question.
import type { Pool } from 'pg'

/** The nodes of the plan of what `read` asks, as `<type> on <relation>`; what an index is asked as `Index Cond: …`. */
export async function planOf (pool: Pool, read: (db: Pool) => Promise<unknown>): Promise<string[]> {
  const nodes: string[] = []
  const explaining = Object.create(pool, {
    query: {
      value: async (question: string | { text: string, values: unknown[] }, values?: unknown[]) => {
        const [text, given] = typeof question === 'string' ? [question, values] : [question.text, question.values]
        const { rows: [row] } = await pool.query<{ 'QUERY PLAN': unknown }>(`EXPLAIN (FORMAT JSON) ${text}`, given)
        collect(row?.['QUERY PLAN'], nodes)
        return await pool.query(text, given)
      }
    }
  })
  await read(explaining)
  return nodes
}

function collect (node: unknown, nodes: string[]): void {
  if (typeof node !== 'object' || node === null) return
  if ('Node Type' in node && 'Relation Name' in node) nodes.push(`${node['Node Type']} on ${node['Relation Name']}`)
  if ('Index Cond' in node) nodes.push(`Index Cond: ${node['Index Cond']}`)
  for (const inner of Object.values(node)) collect(inner, nodes)
}
