// Appends that a token is revoked, and tells every process.
import { randomUUID } from 'node:crypto'
import { commandHandler } from '../../commands/handle-command.js'
import type { Connections } from '../../services/connections.js'
import { announceRevoked } from '../../../projections/keys/revocations.js'
import { tokenDecider } from '../../features/api-keys/token.js'
import { tokenStream } from '../../features/api-keys/token-events.js'

/** Safe to repeat: it also tells those who were not told the first time. @returns whether it was not revoked before */
export async function revokeNow (
  { streams, pool }: Pick<Connections, 'streams' | 'pool'>, jtiDigest: string
): Promise<boolean> {
  const command = { jti_digest: jtiDigest, now: new Date().toISOString() }
  const { isAppended = false } = await commandHandler(streams).handle({
    aggregate: tokenDecider,
    stream: tokenStream(jtiDigest),
    decide: (state) => tokenDecider.decide(command, state),
    origin: { commandId: randomUUID(), correlationId: randomUUID() }
  })
  await announceRevoked(pool, { token: jtiDigest })
  return isAppended
}
