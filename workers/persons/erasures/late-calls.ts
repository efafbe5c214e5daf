// Erases calls that are reported when their person was erased already, without anybody asking again: as requests in the
// background, one of a user at a time. Each may be repeated whole.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { BackgroundKind } from '../../background/kind.js'
import { acceptRequest, prepareRequest } from '../../background/requests.js'

const lateCallKind = 'late-call-erasure'

/** Days that the row of one is kept after its end. */
const keepDays = 1

export interface LateCallWork {
  pool: Pool
  /** Who has such calls. */
  users (): Promise<string[]>
  /** The next of a user, behind the id. */
  callIds (userId: string, after: string, most: number): Promise<string[]>
  eraseCall (callId: string, userId: string, requestId: string): Promise<void>
  /** Whether readers and the dispatcher have passed all that the log had when this was called. */
  hasCome (): Promise<boolean>
  /** Takes out of the store what is hidden, or notes that its operator has to. */
  scavenge (requestId: string): Promise<void>
}

const callsAtOnce = 100

interface Progress { after: string }

export function lateCalls (work: LateCallWork): BackgroundKind<object, Progress> {
  return {
    keepDays,
    async work ({ id, userId, progress: { after = '' } }, turn) {
      for (;;) {
        const calls = await work.callIds(userId, after, callsAtOnce)
        for (const callId of calls) await work.eraseCall(callId, userId, id)
        const last = calls.at(-1)
        if (last === undefined) break
        after = last
        await turn.keep({ after })
        if (turn.isOver()) return 'again'
      }
      if (!await work.hasCome()) return 'again'
      await work.scavenge(id)
      return { state: 'completed' }
    },
    async finish () {}, // each call tells of its own end
    wasAccepted: async () => true,
    async tidy () {
      for (const userId of await work.users()) {
        const request = { id: randomUUID(), kind: lateCallKind, userId, input: {} }
        if (await prepareRequest(work.pool, request, 1)) await acceptRequest(work.pool, request.id)
      }
    }
  }
}
