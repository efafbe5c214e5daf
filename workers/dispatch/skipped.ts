// Counts the calls that this process has recorded without a webhook to send, by reason, for metrics.
import type { NewDelivery, SkipReason } from './new-deliveries.js'

/** Since the process started. */
export const skippedCalls: Record<SkipReason, number> = {
  webhook_off: 0, not_completed: 0, unknown_assistant: 0, invalid: 0, restored: 0, erased: 0
}

/** Counts those of one batch when it is committed: a batch that fails comes again. */
export class SkippedInBatch {
  #reasons: SkipReason[] = []

  note (added: readonly NewDelivery[]): void {
    for (const { skipped } of added) if (skipped) this.#reasons.push(skipped)
  }

  committed (): void {
    for (const reason of this.#reasons) skippedCalls[reason] += 1
  }
}
