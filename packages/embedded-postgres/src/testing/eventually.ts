// Waits for a condition instead of sleeping.
import { setTimeout as delay } from 'node:timers/promises'

type Attempt<Answer> = () => Answer | false | Promise<Answer | false>

/**
 * Runs `attempt`, with a pause of `everyMs`, until it neither throws nor answers false, and answers what it answers.
 * @throws its last error after `withinMs`; the usual minute is for a machine with other work, and no test passes by it
 */
export async function eventually<Answer> (
  attempt: Attempt<Answer>, withinMs = 60_000, everyMs = 20
): Promise<Answer> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const outcome = await outcomeOf(attempt)
    if ('answer' in outcome && outcome.answer !== false) return outcome.answer
    const isLate = Date.now() > deadline
    if (isLate) throw 'error' in outcome ? outcome.error : new Error(`it did not become true within ${withinMs} ms`)
    await delay(everyMs)
  }
}

async function outcomeOf<Answer> (attempt: Attempt<Answer>): Promise<{ answer: Answer | false } | { error: unknown }> {
  try {
    return { answer: await attempt() }
  } catch (error) {
    return { error }
  }
}
