// Lets a test act between two statements that a process sends to Postgres: fail it, freeze it or kill it there.
import type { Pool, PoolClient } from 'pg'

export interface Watching {
  /** Awaited before a statement is sent. If it throws, the statement is not sent and fails with that error. */
  before?: ((statement: string) => unknown) | undefined
  /** Awaited after the answer has come. If it throws, its error replaces the answer. */
  after?: ((statement: string) => unknown) | undefined
}

/** The pool, with every statement of its connections watched. Watchers get a statement as one line. */
export function watchedPool<Sender extends Pool | PoolClient> (sender: Sender, watching: Watching): Sender {
  return new Proxy(sender, {
    get (target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name === 'connect') return async () => watchedPool(await member.call(target), watching)
      if (name !== 'query') return member.bind(target)
      return async (...given: unknown[]) => {
        const statement = inOneLine(given[0])
        await watching.before?.(statement)
        const answer = await member.apply(target, given)
        await watching.after?.(statement)
        return answer
      }
    }
  })
}

function inOneLine (question: unknown): string {
  const text = typeof question === 'object' && question !== null ? Reflect.get(question, 'text') : question
  return String(text).replaceAll(/\s+/g, ' ').trim()
}

/** Calls `happen` before the nth statement like this. */
export function beforeNth (
  like: RegExp, nth: number, happen: (statement: string) => unknown
): (statement: string) => unknown {
  let count = 0
  return (statement) => like.test(statement) && ++count === nth ? happen(statement) : undefined
}

/** Matches this statement and no other. */
export const exactly = (statement: string) => `^${statement.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`

/** Each statement once, in the order of first use, without periodic ones such as renewals of leases. */
export const distinct = (statements: string[]) =>
  [...new Set(statements)].filter((statement) => !isRenewal.test(statement))
const isRenewal = /^UPDATE ledger.leases SET expires_at = clock_timestamp/
