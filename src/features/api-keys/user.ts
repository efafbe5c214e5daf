// Who a command acts for.
import Type from 'typebox'
import { withoutNul } from '../../domain/json.js'

/** The token's `sub`: an opaque string of 1 to 128 printable characters. */
export const UserId = Type.String({
  minLength: 1, maxLength: 128, ...withoutNul, description: 'The user, as the `sub` of the token.'
})
