// Erases calls that are reported when their person was erased already, without anybody asking again: as requests in the
// background, one of a user at a time. Each may be repeated whole.
import { randomUUID } from 'node:crypto'
import { findLateCalls, findUsersOfLateCalls } from '../../../projections/persons.js'
import type { Services } from '../../../src/services/services.js'
import type { BackgroundKind } from '../../background/kind.js'
import { acceptRequest, prepareRequest } from '../../background/requests.js'
import { areBehind, callsAtOnce, eraseCallOf, scavengeFor } from './erasures.js'
import { nobodys } from './parked.js'

const lateCallKind = 'late-call-erasure'

/** Days that the row of one is kept after its end. */
const keepDays = 1

type LateServices = Pick<Services, 'pool' | 'streams' | 'positions'>

/** As the user of calls that have none. */
const nobody = ''

/** Who has such calls. */
export async function usersOfLateCalls (services: LateServices): Promise<string[]> {
  const users = await findUsersOfLateCalls(services.pool)
  return (await nobodys(services)).length > 0 ? [...users, nobody] : users
}

interface Progress { after: string }

export function lateCalls (services: LateServices): BackgroundKind<object, Progress> {
  const { pool } = services
  return {
    keepDays,
    async work ({ id, userId, progress: { after = '' } }, turn) {
      for (;;) {
        const calls = await findLateCalls(pool, userId, await nobodys(services), after, callsAtOnce)
        for (const callId of calls) await eraseCallOf(services, callId, userId, id)
        const last = calls.at(-1)
        if (last === undefined) break
        after = last
        await turn.keep({ after })
        if (turn.isOver()) return 'again'
      }
      if ((await areBehind(services)).length > 0) return 'again'
      await scavengeFor(services, id)
      return { state: 'completed' }
    },
    async finish () {}, // each call tells of its own end
    wasAccepted: async () => true,
    async tidy () {
      for (const userId of await usersOfLateCalls(services)) {
        const request = { id: randomUUID(), kind: lateCallKind, userId, input: {} }
        if (await prepareRequest(pool, request, 1)) await acceptRequest(pool, request.id)
      }
    }
  }
}
