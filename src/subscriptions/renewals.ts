// Renews the leases of a process together: one statement for all whose time has come.
import type { Pool } from 'pg'
import { renewAll, type Held } from './lease-row.js'

interface Asked { held: Held, settle (isHeld: boolean): void, fail (error: unknown): void }

/** What wants to be renewed at this moment, by pool. */
const askedOf = new WeakMap<Pool, Asked[]>()

/**
 * Renews it with all others that are to be renewed at the same moment. A statement that is not answered delays no later
 * one. @returns whether it is still held
 */
export async function renew (pool: Pool, held: Held): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const asked = { held, settle: resolve, fail: reject }
    const others = askedOf.get(pool)
    if (others) return void others.push(asked)
    askedOf.set(pool, [asked])
    setImmediate(() => void renewAsked(pool))
  })
}

async function renewAsked (pool: Pool): Promise<void> {
  const asked = askedOf.get(pool) ?? []
  askedOf.delete(pool)
  try {
    const renewed = await renewAll(pool, asked.map(({ held }) => held))
    for (const { held, settle } of asked) settle(renewed.has(held))
  } catch (error) {
    for (const { fail } of asked) fail(error)
  }
}
