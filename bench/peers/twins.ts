// The leads of a made-up log once more, under the names that the peers give to their events.
import type { Happened } from '../log/history.js'
import type { Written } from '../log/fill.js'
import { random } from '../support/random.js'

/** The log, and after it a twin of each lead on a stream of its own. */
export function * withTwins (history: Iterable<Happened>): Generator<Written, void> {
  const chance = random(3)
  const twins: Written[] = []
  for (const happened of history) {
    yield happened
    if (happened.type !== 'LeadCreated') continue
    const { lead_id, user_id, campaign_id, phone_number, variables, created_at } = happened.data
    const data = { lead_id, user_id, campaign_id, phone_number, variables, created_at }
    twins.push({ ...happened, type: 'PeerLeadCreated', data, stream: `peer${happened.stream}`, id: chance.uuid(), metadata: {} })
  }
  yield * twins
}
