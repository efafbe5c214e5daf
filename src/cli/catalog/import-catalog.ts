// Brings a catalogue into the log: only what is new is appended.
import { randomUUID } from 'node:crypto'
import type { HandleCommand } from '../../command-handling/handle-command.js'
import {
  campaignDecider, languagesDecider, modelsDecider, phoneNumberDecider, voicesDecider
} from '../../domain/catalog/decide.js'
import { catalogStreams } from '../../domain/catalog/events.js'
import type { Decider } from '../../domain/decider.js'
import type { DomainEvent } from '../../domain/events.js'
import type { CatalogFile } from './catalog-file.js'

/** One append stays well under the store's 1 MiB, metadata and the longest names included. */
const entriesAtOnce = 250

/**
 * Appends what the log does not hold yet. The same file again appends nothing, another name renames.
 * @returns the position that the catalogue is complete at
 * @throws Rejection when an id belongs to another user
 */
export async function importCatalog (
  handle: HandleCommand, { voices = [], languages = [], models = [], users = [] }: CatalogFile
): Promise<bigint> {
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
      await run(campaignDecider, catalogStreams.campaign(campaign_id), { campaign_id, user_id, name })
    }
    for (const { id: phone_number_id, phone_number } of phone_numbers) {
      const stream = catalogStreams.phoneNumber(phone_number_id)
      await run(phoneNumberDecider, stream, { phone_number_id, user_id, phone_number })
    }
  }

  async function run<State, Event extends DomainEvent, Command> (
    decider: Decider<State, Event, Command>, stream: string, command: Command
  ) {
    const origin = { commandId: randomUUID(), correlationId: randomUUID() }
    const decide = (state: State) => decider.decide(command, state)
    const { position } = await handle({ aggregate: decider, stream, decide, origin })
    if (position > last) last = position
  }
}
