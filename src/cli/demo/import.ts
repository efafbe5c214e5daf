// The demo's do-not-call list, and an import of leads that meets it.
import { setTimeout as delay } from 'node:timers/promises'
import { importedLeads, listedNumber } from './bodies.js'
import { expect, type Call } from './call.js'
import type { Journey } from './scene.js'

interface Import { id: string, status: string, total: number, created: number, invalid: number }
interface Row { row: number, outcome: string, errors: Record<string, string[]> | null }

/** Three leads are created, and a fourth row is refused, as its number is on the list. */
export async function importLeads (
  { tokens: { user }, timeline, signal }: Journey, call: Call, campaignId: number
): Promise<void> {
  await timeline.step('put a number on the list', 'POST /user/blacklist', async () => {
    await call('POST', '/user/blacklist', user, 201, { phone_number: listedNumber, reason: 'asked for it' })
    return `${listedNumber} is not to be called`
  })
  await timeline.step('import three leads', 'POST /user/leads/import', async () => {
    const path = `/user/leads/import?campaign_id=${campaignId}`
    const { body: { data: { id } } } = await call<Import>('POST', path, user, 202, importedLeads)
    const { created, invalid } = await ended(call, user, id, signal)
    const { body: { data: rows } } = await call<Row[]>('GET', `/user/lead-import/${id}/results`, user, 200)
    const refused = rows.find(({ outcome }) => outcome === 'invalid')
    expect(created === 3 && invalid === 1 && refused !== undefined, `the import made ${created} leads, and refused ${invalid} rows`)
    return `3 leads of a CSV file; row ${refused.row} was refused: phone_number ${refused.errors?.phone_number?.join()}`
  })
}

const withinMs = 10_000
const everyMs = 25

async function ended (call: Call, user: string, id: string, signal: AbortSignal): Promise<Import> {
  for (const until = Date.now() + withinMs; Date.now() < until; await delay(everyMs, undefined, { signal })) {
    const { body: { data } } = await call<Import>('GET', `/user/lead-import/${id}`, user, 200)
    if (data.status === 'completed') return data
    expect(data.status === 'processing', `the import ${data.status}`)
  }
  throw new Error(`the import did not end within ${withinMs / 1000} s`)
}
