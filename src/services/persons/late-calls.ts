// What calls of persons who were erased before are erased with.
import { findLateCalls, findReport, findUsersOfLateCalls } from '../../../projections/persons.js'
import type { LateCallWork } from '../../../workers/persons/erasures/late-calls.js'
import { eraseCall } from '../../commands/person/erase-streams.js'
import type { Connections } from '../connections.js'
import { areBehind, scavengeFor } from './erasing.js'
import { nobodys } from './parked.js'

/** As the user of whom there is none. */
const nobody = ''

export function lateCallWork (
  { pool, streams, positions }: Pick<Connections, 'pool' | 'streams' | 'positions'>
): LateCallWork {
  return {
    pool,
    async users () {
      const users = await findUsersOfLateCalls(pool)
      return (await nobodys({ pool, streams })).length > 0 ? [...users, nobody] : users
    },
    async callIds (userId, after, most) {
      return await findLateCalls(pool, userId, await nobodys({ pool, streams }), after, most)
    },
    async eraseCall (callId, userId, requestId) {
      const options = { streams, userId, requestId, now: new Date().toISOString() }
      await eraseCall(options, callId, await findReport(pool, callId))
    },
    hasCome: async () => (await areBehind({ pool, streams, positions })).length === 0,
    scavenge: (requestId) => scavengeFor({ streams, pool }, requestId)
  }
}
