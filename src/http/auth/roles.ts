// Who calls: users, the call engine, operators.

const roles = ['user', 'engine', 'ops'] as const

/** Users have no role claim, unless JWT_ROLE_MAP knows what their issuer writes there. */
export type Role = typeof roles[number]

export const isRole = (name: string): name is Role => roles.some((role) => role === name)

/**
 * The role that a claim names, or `unknown`. A token without the claim is a user's; the name `user` is nobody's unless
 * the map has it.
 */
export function roleOf (claim: unknown, map?: ReadonlyMap<string, Role>): Role | 'unknown' {
  if (claim === undefined) return 'user'
  const name = claim === null ? '' : claim
  if (typeof name !== 'string') return 'unknown'
  const mapped = map?.get(name)
  if (mapped) return mapped
  return isRole(name) && name !== 'user' ? name : 'unknown'
}
