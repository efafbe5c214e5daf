// The rule for tokens: one is ended once, and for good.
import type { Decider } from '../../domain/decider.js'
import type { TokenEvent } from './token-events.js'

export interface RevokeToken { jti_digest: string, now: string }
export interface TokenState { isRevoked: boolean }

export const tokenDecider: Decider<TokenState, TokenEvent, RevokeToken> = {
  initialState: { isRevoked: false },
  eventTypes: ['TokenRevoked'],
  evolve: () => ({ isRevoked: true }),
  decide: ({ jti_digest, now }, { isRevoked }) =>
    isRevoked ? [] : [{ type: 'TokenRevoked', data: { jti_digest, revoked_at: now } }]
}
