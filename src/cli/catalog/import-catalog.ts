// Brings a catalogue into the log: only what is new is appended.
import { randomUUID } from 'node:crypto'
import { importedCampaignDecider } from '../../features/campaigns/decide.js'
import { campaignStream } from '../../features/campaigns/events.js'
import { languagesDecider, modelsDecider, voicesDecider } from '../../features/catalog/decide.js'
import { catalogStreams } from '../../features/catalog/events.js'
import type { Decider } from '../../domain/decider.js'
import type { DomainEvent } from '../../domain/events.js'
import type { CatalogFile } from './catalog-file.js'
import { importNumber, type ImportTools } from './import-number.js'

/** One append stays well under the store's 1 MiB, metadata and the longest names included. */
const entriesAtOnce = 250

/**
 * Appends what the log does not hold yet. The same file again appends nothing, another name renames; what users changed
 * or deleted since the last import stays, where the file says the same as then.
 * @returns the position that the catalogue is complete at
 * @throws Rejection when an id belongs to another user, or a new phone number is held by somebody
 */
export async function importCatalog (
  { handle, claims }: ImportTools, { voices = [], languages = [], models = [], users = [] }: CatalogFile
): Promise<bigint> {
  const now = new Date().toISOString()
  let last = 0n
  await addAll(voicesDecider, catalogStreams.voices, voices)
  await addAll(languagesDecider, catalogStreams.languages, languages.map((name) => ({ name })))
  await addAll(modelsDecider, catalogStreams.models, models.map((name) => ({ name })))
  for (const user of users) await addUser(user)
  return last

  async function addAll<State, Event extends DomainEvent, Entry> (
    decider: Decider<State, Event, { entries: Entry[] }>, stream: string, entries: Entry[]
  ) {
    for (let at = 0; at < entries.length; at += entriesAtOnce) {
      await run(decider, stream, { entries: entries.slice(at, at + entriesAtOnce) })
    }
  }

  async function addUser ({ id, campaigns = [], phone_numbers = [] }: NonNullable<CatalogFile['users']>[number]) {
    const user_id = String(id)
    for (const { id: campaign_id, name } of campaigns) {
      await run(importedCampaignDecider, campaignStream(campaign_id), { campaign_id, user_id, name, now })
    }
    for (const { id: phone_number_id, phone_number } of phone_numbers) {
      reached(await importNumber({ handle, claims }, { phone_number_id, user_id, phone_number }))
    }
  }

  async function run<State, Event extends DomainEvent, Command> (
    decider: Decider<State, Event, Command>, stream: string, command: Command
  ) {
    const origin = { commandId: randomUUID(), correlationId: randomUUID() }
    const request = { aggregate: decider, stream, decide: (state: State) => decider.decide(command, state), origin }
    reached((await handle(request)).position)
  }

  function reached (position: bigint) { if (position > last) last = position }
}
