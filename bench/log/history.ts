// Makes up the log of an installation: users with campaigns and assistants, leads that come in, calls that are made.
import { catalogStreams } from '../../src/features/catalog/events.js'
import { phoneNumberStream } from '../../src/features/phone-numbers/events.js'
import { currentVersion, type DomainEvent } from '../../src/domain/events.js'
import { random, type Random } from '../support/random.js'
import { call, campaign, created, lead, phoneNumber, updated, type Step, type User } from './made-up.js'

/** An event and where in its stream it is; `created` is Unix milliseconds. */
export type Happened = DomainEvent & {
  stream: string
  revision: number
  id: string
  metadata: Record<string, string>
  created: number
}

const begin = Date.UTC(2026, 0, 1)
const userCount = (events: number) => Math.min(200, Math.ceil(events / 1_000))

/**
 * So many events, the same ones for the same numbers. After the catalogue half of them are calls of 1 to 44 turns and
 * a third are leads with up to three secondary contacts. The rest are changes of assistants and of campaigns' names.
 */
export function * history ({ events, seed }: { events: number, seed: number }): Generator<Happened, void> {
  const chance = random(seed)
  const revisions = new Map<string, number>()
  let count = 0
  const now = () => new Date(begin + count * 7_000).toISOString()
  for (const [stream, event] of happenings(chance, userCount(events), now)) {
    const revision = revisions.get(stream) ?? 0
    if (!stream.startsWith('lead-')) revisions.set(stream, revision + 1) // one lead a stream here, and there are many
    const metadata = event.type === 'CallCompleted' ? {} : metadataOf(chance, event)
    yield { ...event, stream, revision, id: chance.uuid(), metadata, created: begin + count * 7_000 }
    if (++count === events) return
  }
}

function metadataOf (chance: Random, { type }: DomainEvent): Record<string, string> {
  const commandId = chance.uuid()
  return {
    $correlationId: chance.uuid(),
    $causationId: commandId,
    command_id: commandId,
    schema_version: currentVersion(type)
  }
}

function * happenings (chance: Random, count: number, now: () => string): Generator<Step, void> {
  const users = [newUser(0), ...Array.from({ length: count - 1 }, (_, index) => newUser(index + 1))] as const
  yield * catalogue(chance, users, now)
  let [assistants, leads, calls] = [count, 0, 0]
  for (;;) {
    const user = chance.pick(users)
    const dice = chance.whole(0, 999)
    if (dice < 5) yield campaign(chance, user, 'CampaignRenamed', chance.pick(user.campaigns), now())
    else if (dice < 15) {
      user.assistants.push(++assistants)
      yield created(chance, user, assistants, now())
    } else if (dice < 135) yield updated(chance, user, now())
    else if (dice < 480) {
      const [id, contacts] = [leads + 1, chance.chance(0.3) ? chance.whole(1, 3) : 0]
      leads += 1 + contacts
      user.leads.push(id)
      yield lead(chance, user, id, contacts, now())
    } else yield call(chance, user, `call-${chance.chance(0.005) && calls > 0 ? calls : ++calls}`, now())
  }
}

export function newUser (index: number): User {
  const campaign = index * 3 + 1
  const campaigns: User['campaigns'] = [campaign, campaign + 1, campaign + 2]
  return { id: String(index + 1), campaigns, assistants: [index + 1], leads: [] }
}

const languages = ['English', 'German', 'Dutch', 'French', 'Spanish']
const models = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1']

export function * catalogue (chance: Random, users: readonly User[], now: () => string): Generator<Step, void> {
  for (let id = 1; id <= 12; id++) {
    yield [catalogStreams.voices, { type: 'VoiceAdded', data: { id, name: `Voice ${id}` } }]
  }
  for (const name of languages) yield [catalogStreams.languages, { type: 'LanguageAdded', data: { name } }]
  for (const name of models) yield [catalogStreams.models, { type: 'ModelAdded', data: { name } }]
  for (const user of users) {
    for (const id of user.campaigns) yield campaign(chance, user, 'CampaignCreated', id, now())
    const id = Number(user.id)
    const number = { phone_number_id: id, user_id: user.id, phone_number: phoneNumber(id) }
    yield [phoneNumberStream(id), { type: 'PhoneNumberAdded', data: number }]
    yield created(chance, user, id, now())
  }
}
