// Keeps the leads of a body, part by part as it is read.
import { createHash, randomUUID } from 'node:crypto'
import { canonicalJson } from '../../../domain/json.js'
import type { ImportRequest } from './import-body.js'
import type { LeadImports } from './lead-imports.js'
import type { SentLead } from './sent-leads.js'

/** The leads of a body, as they are kept. */
export interface Upload {
  id: string
  total: number
  /** Of all leads, SHA-256 in hexadecimal digits. */
  digest: string
  /** The import that has them, once there may be one. */
  importId?: string
}

/** A part is done in about a second, and is repeated when its worker is killed. */
const mostRows = 500
const mostBytes = 512 * 1024

/** Each lead at its turn, so that others get theirs. */
export async function * inTurns (
  turn: () => Promise<number>, leads: ImportRequest['leads']
): AsyncGenerator<SentLead> {
  let until = 0
  for await (const lead of leads) {
    if (performance.now() >= until) until = await turn()
    yield lead
  }
}

/** Keeps the leads while `use` makes an import of them. What no import has in the end is removed. */
export async function whileKept<Result> (
  imports: LeadImports, userId: string, leads: ImportRequest['leads'], use: (upload: Upload) => Promise<Result>
): Promise<Result> {
  const upload: Upload = { id: randomUUID(), total: 0, digest: '' }
  try {
    Object.assign(upload, await keepLeads(imports, { id: upload.id, userId }, leads))
    return await use(upload)
  } finally {
    await imports.removeUnused(upload.id, upload.importId).catch(() => {}) // else it is removed as an orphan
  }
}

async function keepLeads (
  imports: LeadImports, upload: { id: string, userId: string }, leads: ImportRequest['leads']
): Promise<Pick<Upload, 'total' | 'digest'>> {
  const hash = createHash('sha256')
  let part: SentLead[] = []
  let [total, bytes] = [0, 0]
  const keep = async () => {
    const kept = part
    part = []
    bytes = 0
    if (kept[0]) await imports.addPart(upload, kept[0].row, kept)
  }
  for await (const lead of leads) {
    const text = canonicalJson(lead) ?? ''
    hash.update(text).update('\n')
    part.push(lead)
    total++
    bytes += text.length
    if (part.length === mostRows || bytes >= mostBytes) await keep()
  }
  await keep()
  return { total, digest: hash.digest('hex') }
}
