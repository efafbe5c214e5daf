// The benches that `npm run bench` runs, how long, and which of their figures it takes.
import type { Found } from './entry.js'
import { callEntries } from './read/calls.js'
import { commandEntries } from './read/commands.js'
import { eventStoreEntries } from './read/event-store.js'
import { growthEntries } from './read/growth.js'
import { idleEntries } from './read/idle.js'
import { peerEntries } from './read/peers.js'
import { replayEntries } from './read/replay.js'
import { webhookEntries } from './read/webhooks.js'

export interface Part {
  /** Of its program, `npm run bench:<name>`. */
  name: string
  /** Its options: of a whole run, and of a quick one; without them it is left out there. */
  full: string
  quick?: string
  /** What its JSON says. */
  read (json: string): Found
}

export const parts: Part[] = [
  { name: 'event-store', full: '', quick: '--rounds 1 --seconds 1 --in-flight 1,32 --events 10000 --crowd 0', read: eventStoreEntries },
  {
    name: 'commands',
    full: '--leads 1000000 --assistants 100000',
    quick: '--seconds 2 --warm 2 --in-flight 1,32 --leads 2000 --assistants 500 --only POST_lead;GET_lead --no-statements',
    read: commandEntries
  },
  { name: 'calls', full: '', quick: '--seconds 3 --warm 3 --rates 20 --queues Postgres --processes apart --no-hanging --no-statements', read: callEntries },
  { name: 'webhooks', full: '', read: webhookEntries },
  { name: 'replay', full: '--events 200000 --projections leads,calls', quick: '--events 12000 --projections leads --seconds 1 --writes 100', read: replayEntries },
  { name: 'growth', full: '', read: growthEntries },
  { name: 'idle', full: '', quick: '--seconds 4 --settle 4', read: idleEntries },
  { name: 'peers', full: '', read: peerEntries }
]

/** As a program takes them: an underscore is a space. */
export const argsOf = (options: string): string[] => options.split(' ').filter(Boolean).map((each) => each.replaceAll('_', ' '))
