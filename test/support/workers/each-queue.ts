// Rules that are tried with the queue in Postgres, and again with the queue in Redis.
import type { Test } from 'tap'
import { noRedis, scratchRedis, type ScratchRedis } from '../back-ends/redis.js'

/** By their titles. */
export type Rules = Record<string, (t: Test, redis: ScratchRedis | undefined) => Promise<void>>

export function onEachQueue (t: Test, rules: Rules): void {
  t.test('on Postgres', async (t) => await tryAll(t, rules))
  t.test('on Redis', { skip: noRedis() }, async (t) => await tryAll(t, rules, await scratchRedis(t)))
}

async function tryAll (t: Test, rules: Rules, redis?: ScratchRedis): Promise<void> {
  for (const [title, rule] of Object.entries(rules)) await t.test(title, async (t) => await rule(t, redis))
}
