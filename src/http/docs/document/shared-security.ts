// What nearly every operation takes as a login stands once, at the top of the API document.
import type { Operation } from './shared-parts.js'

/**
 * Takes the login that most operations have off them. One without any says so itself.
 * @returns what they take
 */
export function shareSecurity (operations: readonly Operation[]): object[] {
  const counts = new Map<string, number>()
  for (const { security } of operations) {
    if (security) counts.set(JSON.stringify(security), (counts.get(JSON.stringify(security)) ?? 0) + 1)
  }
  const [usual = '[]'] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? []
  for (const operation of operations) {
    if (!operation.security) operation.security = []
    else if (JSON.stringify(operation.security) === usual) delete operation.security
  }
  return JSON.parse(usual)
}
