// Keeps the leads of a body, part by part as it is read.
import { createHash, randomUUID } from 'node:crypto'
import type { LeadImports } from './lead-imports.js'
import type { SentLead } from './sent-leads.js'

export interface Upload {
  id: string
  total: number
  /** Of all leads, SHA-256 in hexadecimal digits. */
  digest: string
}

/** A part is done in about a second, and is repeated when its worker is killed. */
const mostRows = 500
const mostBytes = 512 * 1024

/** What was kept of a body that breaks off is removed. */
export async function keepLeads (
  imports: LeadImports, userId: string, leads: AsyncIterable<SentLead> | Iterable<SentLead>
): Promise<Upload> {
  const id = randomUUID()
  const hash = createHash('sha256')
  let part: SentLead[] = []
  let [total, bytes] = [0, 0]
  const keep = async () => {
    const kept = part
    part = []
    bytes = 0
    if (kept.length > 0) await imports.addPart({ id, userId }, total - kept.length + 1, kept)
  }
  try {
    for await (const lead of leads) {
      const text = JSON.stringify(lead)
      hash.update(text).update('\n')
      part.push(lead)
      total++
      bytes += text.length
      if (part.length === mostRows || bytes >= mostBytes) await keep()
    }
    await keep()
    return { id, total, digest: hash.digest('hex') }
  } catch (error) {
    await imports.removeUnused(id, undefined).catch(() => {}) // else it is removed as an orphan
    throw error
  }
}
