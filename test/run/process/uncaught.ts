// Errors that nobody catches: they fail the test that runs.
import { Test } from 'tap'

/** From now on, until the answer is called. A rejection that nobody handles is raised as an error. */
export function failOnUncaught (file: Test): () => void {
  const running = new Set<Test>()
  follow(file, running)
  const fail = (error: unknown) => { [...running].at(-1)?.threw(error) }
  process.on('uncaughtException', fail)
  return () => { process.off('uncaughtException', fail) }
}

/** The last in `running` is the innermost test; where several run at once, the one that started last. */
function follow (test: Test, running: Set<Test>): void {
  running.add(test)
  test.on('subtestStart', (subtest) => { if (subtest instanceof Test) follow(subtest, running) })
  test.on('subtestEnd', (subtest) => { if (subtest instanceof Test) running.delete(subtest) })
}
