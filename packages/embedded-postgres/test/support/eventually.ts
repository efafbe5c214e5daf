// Waits for a condition instead of sleeping.
import { setTimeout as delay } from 'node:timers/promises'

type Attempt<Answer> = () => Answer | false | Promise<Answer | false>

/** To look is often a request or a statement, and takes CPU from what is waited for. */
const longestMs = 250

/**
 * Runs `attempt` until it neither throws nor answers false, and answers what it answers. The pause between two looks is
 * `everyMs`, or else a tenth of what was waited so far, from 20 to 250 ms.
 * @throws its last error after `withinMs`; the usual minute is for a machine with other work, and no test passes by it
 */
export async function eventually<Answer> (
  attempt: Attempt<Answer>, withinMs = 60_000, everyMs?: number
): Promise<Answer> {
  const beganAt = Date.now()
  const deadline = beganAt + withinMs
  for (;;) {
    const outcome = await outcomeOf(attempt)
    if ('answer' in outcome && outcome.answer !== false) return outcome.answer
    const isLate = Date.now() > deadline
    if (isLate) throw 'error' in outcome ? outcome.error : new Error(`it did not become true within ${withinMs} ms`)
    await delay(everyMs ?? Math.min(longestMs, Math.max(20, (Date.now() - beganAt) / 10)))
  }
}

async function outcomeOf<Answer> (attempt: Attempt<Answer>): Promise<{ answer: Answer | false } | { error: unknown }> {
  try {
    return { answer: await attempt() }
  } catch (error) {
    return { error }
  }
}
