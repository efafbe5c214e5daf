// Exports persons as durable work. One transaction makes an export, which is kept for a day in parts; each part is
// encrypted on its own and bound to its place.
import type { Pool, PoolClient } from 'pg'
import { digested, findPerson, type Person } from '../../projections/persons.js'
import { endRequest, findRequest } from '../../src/commands/person-requests.js'
import type { CallReport } from '../../src/features/calls/model.js'
import { exportGone } from '../../src/features/persons/model.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'
import type { Services } from '../../src/services/services.js'
import { findWholeDeliveries } from '../deliveries/read.js'
import type { BackgroundKind } from '../work/kind.js'
import { parkedEventsOf, parkedOf } from './of-person.js'

export interface ExportWork extends Pick<Services, 'pool' | 'streams' | 'positions' | 'keys' | 'phoneHash'> {
  /** These must have reached the position of the request. */
  sources?: readonly string[]
  find?: typeof findPerson
}

const soonMs = 1_000
const parkedAgainMs = 10_000

export function personExports (work: ExportWork): BackgroundKind<SealedRow, { waits_for: string }> {
  const { streams, positions, keys, sources = ['leads', 'calls', 'deliveries'] } = work
  return {
    keepDays: 1,
    isLong: true,
    async work ({ id, userId, input }, turn) {
      const found = await findRequest(streams, id)
      if (!found) throw new Error(`there is no event of the export ${id}`)
      if (found.request.status !== 'processing') return { state: 'completed' } // its end was not written down
      if ((await positions.late(sources, found.position)).length > 0) return { state: 'waiting', inMs: soonMs }
      const asked = { id, userId, phoneNumber: unseal(keys, userId, input) }
      const parked = await parkedOf(work, asked, id)
      if (parked.length > 0) {
        await turn.keep({ waits_for: parkedEventsOf(parked) })
        return { state: 'waiting', inMs: parkedAgainMs }
      }
      await exportPerson(work, asked, turn.signal)
      return { state: 'completed' }
    },
    finish: ({ id }, ended) => endRequest(streams, id, ended.state === 'completed'),
    wasAccepted: async (id) => await findRequest(streams, id) !== undefined
  }
}

/** An erasure waits for the row lock. If one came after the snapshot, it changed the row: this fails and repeats. */
async function exportPerson (
  { pool, keys, phoneHash, find = findPerson }: ExportWork, asked: Person & { id: string }, signal: AbortSignal
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ') // all of the document is of one instant
    await tx.query('SELECT FROM ledger.work WHERE id = $1 FOR UPDATE', [asked.id])
    const { write, end } = await beginExport(tx, keys, asked)
    await writeDocument(tx, asked, find(tx, digested(asked, phoneHash), signal), write)
    await end()
  })
}

type Visit<Item> = (items: Item[]) => Promise<void>
/** @param ofCall the call that the text is about, unless it is erased */
type Write = (text: string, ofCall?: string) => Promise<void>

async function writeDocument (
  tx: PoolClient, { userId, phoneNumber }: Person & { id: string }, known: ReturnType<typeof findPerson>, write: Write
): Promise<void> {
  const now = new Date().toISOString()
  await write(`{\n"phone_number": ${JSON.stringify(phoneNumber)},\n"exported_at": ${JSON.stringify(now)}`)
  await writeList(write, 'leads', known.leads)
  await writeList(write, 'contacts', known.contacts)
  const callOf = ({ call_id, erased }: CallReport) => erased ? undefined : call_id
  await writeList(write, 'calls', known.calls, callOf)
  await writeList(write, 'deliveries', (visit) => known.callIds(async (ids) => {
    for (const id of ids) await visit(await findWholeDeliveries(tx, userId, id))
  }))
  await write(`,\n"blacklist_entry": ${JSON.stringify(await known.blacklistEntry())}\n}\n`)
}

async function writeList<Item extends object> (
  write: Write, name: string, read: (visit: Visit<Item>) => Promise<void>, callOf?: (item: Item) => string | undefined
): Promise<void> {
  await write(`,\n${JSON.stringify(name)}: [`)
  let before = '\n'
  await read(async (items) => {
    for (const item of items) {
      await write(before + JSON.stringify(item), callOf?.(item))
      before = ',\n'
    }
  })
  await write(']')
}

export interface ExportPlace { id: string, userId: string }

/** Characters of a part before it is encrypted: a process holds no more of an export. */
const partLength = 256 * 1024
/** Most ids of calls that are stored with a part. */
const mostCalls = 10_000

/** What a part is bound to: the SQL and `ownerOf` must agree. */
export const ownerOfPart = "user_id || ' ' || request_id || ' ' || part"
const ownerOf = ({ id, userId }: ExportPlace, part: number) => `${userId} ${id} ${part}`

/**
 * Writes the text of an export, which replaces one that was begun. `end` writes what is left. Each part notes its
 * calls, because other persons who answered them may be erased while the export is kept.
 */
export async function beginExport (tx: PoolClient, keys: SecretKeys, place: ExportPlace) {
  await tx.query('DELETE FROM ledger.person_exports WHERE request_id = $1', [place.id])
  let text = ''
  let calls: string[] = []
  let part = 0
  const flush = async (isLast: boolean) => {
    const { key_id: keyId, sealed } = seal(keys, ownerOf(place, part), text)
    await tx.query(`
      INSERT INTO ledger.person_exports (request_id, part, is_last, user_id, key_id, sealed, call_ids)
      VALUES ($1, $2, $3, $4, $5, decode($6, 'base64'), $7)`,
    [place.id, part, isLast, place.userId, keyId, sealed, calls])
    text = ''
    calls = []
    part += 1
  }
  return {
    async write (more: string, ofCall?: string): Promise<void> {
      text += more
      if (ofCall !== undefined) calls.push(ofCall)
      if (text.length >= partLength || calls.length >= mostCalls) await flush(false)
    },
    end: () => flush(true)
  }
}

/** The text of the export, part by part as its reader takes it. @throws Rejection `gone`, also in the middle */
export async function * readExport (pool: Pool, keys: SecretKeys, place: ExportPlace): AsyncGenerator<string, void> {
  for (let part = 0, isLast = false; !isLast; part += 1) {
    const { rows: [row] } = await pool.query<SealedRow & { is_last: boolean }>(`
      SELECT key_id, encode(sealed, 'base64') AS sealed, is_last FROM ledger.person_exports
      WHERE request_id = $1 AND part = $2 AND user_id = $3`, [place.id, part, place.userId])
    if (!row) throw exportGone()
    yield unseal(keys, ownerOf(place, part), row)
    isLast = row.is_last
  }
}
