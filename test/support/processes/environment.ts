// Variables of the environment, which other tests of the process do not see.
import type { Teardown } from '../teardown.js'

/** Sets variables until the test is over. */
export function setEnvironment (t: Teardown, variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name]
    t.teardown(() => {
      if (before === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = before
    })
    process.env[name] = value
  }
}
