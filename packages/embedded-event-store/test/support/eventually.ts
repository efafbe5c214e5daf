// Waits for a condition instead of sleeping.

/** Runs `attempt`, with a pause of `everyMs`, until it neither throws nor answers false, and answers what it answers. @throws its last error after `withinMs` */
export async function eventually<Answer> (attempt: () => Answer | false | Promise<Answer | false>, withinMs = 15_000, everyMs = 20): Promise<Answer> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const outcome = await Promise.resolve().then(attempt).then((answer) => ({ answer }), (error: unknown) => ({ error }))
    if ('answer' in outcome && outcome.answer !== false) return outcome.answer
    if (Date.now() > deadline) throw 'error' in outcome ? outcome.error : new Error(`it did not become true within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
