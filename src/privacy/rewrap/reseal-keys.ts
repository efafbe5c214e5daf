// Leaves former SECRET_KEYs behind in the log: every key of a person is encrypted with the current one.
import type { Pool } from 'pg'
import { keyId as idOf, type SecretKeys } from '../sealed-text.js'
import { correct } from '../keys/correct.js'
import { aFewAtOnce } from '../keys/log-keys.js'
import { refuseLostKeys, type LostKeysOptions } from './refuse-lost-keys.js'
import { hideFormer, rewrapKey, type RewrapStreams } from './rewrap-key.js'
import { noteKeysOfLog, type WalkOptions } from '../keys/walk.js'

export interface ResealKeysOptions extends Omit<WalkOptions, 'streams'> {
  streams: LostKeysOptions['streams'] & RewrapStreams
  secretKeys: SecretKeys
  /** Keys of one look into the ledger; 500 when absent. */
  batchSize?: number
  onResealed? (keys: number): void
}

/**
 * First the ledger learns of every key of the log, then each that a former key encrypted is encrypted anew there. What
 * broke off goes on when it is repeated: a key counts as done once the ledger says so.
 * @returns how many keys
 * @throws PersonKeyUnreadable before anything is changed, the reason of `signal`, errors of `Streams`
 */
export async function resealKeys (options: ResealKeysOptions): Promise<number> {
  const { pool, streams, secretKeys, signal, batchSize = 500, onResealed = () => {} } = options
  const onLater = (persons: string[]) => aFewAtOnce(persons, (person) => hideFormer(streams, secretKeys, person))
  await noteKeysOfLog({ ...options, onLater })
  signal.throwIfAborted()
  await refuseLostKeys(options)
  let count = 0
  for (let after = lowestId; ;) {
    const rows = await findFormer(pool, idOf(secretKeys.current), after, batchSize)
    const persons = [...new Set(rows.map(({ person }) => person))]
    const kept = await aFewAtOnce(persons, async (person) => {
      signal.throwIfAborted()
      return await rewrapKey(streams, secretKeys, person)
    })
    const there = kept.flatMap((key) => key ?? [])
    await correct(pool, there, rows.map(({ id }) => id))
    count += there.length
    onResealed(count)
    const last = rows.at(-1)
    if (!last || rows.length < batchSize) return count
    after = last.id
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000'

async function findFormer (
  pool: Pool, current: string, after: string, most: number
): Promise<Array<{ id: string, person: string }>> {
  const { rows } = await pool.query<{ id: string, person: string }>(`
    SELECT key_id AS id, person FROM ledger.person_keys
    WHERE wrapped_by <> $1 AND key_id > $2 ORDER BY key_id LIMIT $3`, [current, after, most])
  return rows
}
