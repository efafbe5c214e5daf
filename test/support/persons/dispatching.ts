// Runs the dispatcher alone: it reads what tests erase, and no worker erases beside them.
import { runSubscription } from '../../../src/subscriptions/run.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { keepingLog } from '../postgres/ledger.js'
import type { TestService } from '../service.js'
import type { Teardown } from '../teardown.js'

export function dispatching (t: Teardown, { parts: { pool, streams } }: Pick<TestService, 'parts'>): void {
  const stopping = new AbortController()
  const log = keepingLog()
  void runSubscription(dispatcher({ pool, firstDelayMs: 0, onDispatched () {}, log }), {
    pool, streams, holder: 'test', signal: stopping.signal, log
  })
  t.teardown(() => stopping.abort())
}
