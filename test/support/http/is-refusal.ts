// What every refusal has in common.
import type { Test } from 'tap'
import type { Answer } from './answer.js'

const leak = /node_modules|\.[jt]s\b|\bat \S+ \(|select |insert |postgres|ledger|stack|esdb|ECONN|FST_|127\.0\.0\.1/i

/** The status, JSON, a message that tells nothing of the inside, and `errors` exactly where it is a 422. */
export function isRefusal (t: Test, { status, headers, body }: Answer, expected: number, title: string): void {
  t.strictSame(
    {
      status,
      type: headers.get('content-type'),
      keys: Object.keys(body),
      says: typeof body.message,
      leaks: leak.exec(JSON.stringify(body))?.[0]
    },
    {
      status: expected,
      type: 'application/json; charset=utf-8',
      keys: expected === 422 ? ['message', 'errors'] : ['message'],
      says: 'string',
      leaks: undefined
    },
    title)
}
