// The document of an export: one JSON object, written piece by piece, however much is known of the person.
import type { PoolClient } from 'pg'
import type { findPerson } from '../../projections/persons.js'
import type { CallReport } from '../../src/features/calls/model.js'
import { findWholeDeliveries } from '../deliveries/read/find-deliveries.js'

type Visit<Item> = (items: Item[]) => Promise<void>
interface Asked { userId: string, phoneNumber: string }
/** @param ofCall which the text tells of, unless it is erased */
type Write = (text: string, ofCall?: string) => Promise<void>

export async function writeDocument (
  tx: PoolClient, { userId, phoneNumber }: Asked, known: ReturnType<typeof findPerson>, write: Write
): Promise<void> {
  const now = new Date().toISOString()
  await write(`{\n"phone_number": ${JSON.stringify(phoneNumber)},\n"exported_at": ${JSON.stringify(now)}`)
  await writeList(write, 'leads', (visit) => known.leads(visit))
  await writeList(write, 'contacts', (visit) => known.contacts(visit))
  const callOf = ({ call_id, erased }: CallReport) => erased ? undefined : call_id
  await writeList(write, 'calls', (visit) => known.calls(visit), callOf)
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
