// `ringledger <role>` under a supervisor: killed when a test says so, and started again until it listens.
import { ringledger, type Environment, type Ringledger } from './ringledger.js'
import type { Teardown } from './teardown.js'

export interface RoleProcess {
  role: string
  /** Where it listens, or listened last. */
  url (): string
  /** Starts it, again and again while a back end that it needs is away. Not waited for, so that it can be killed meanwhile. */
  start (): void
  /** Resolves when it listens; rejects when it has not come that far within two minutes. */
  up (): Promise<void>
  /** kill -9 of its whole process group, also while it starts. */
  kill (): Promise<void>
  /** What it said before it ended by itself after it had listened, each time: nobody asked it to. */
  deaths: string[]
  /** The last it said. */
  words (): string
}

const startWithinMs = 120_000

export function roleProcess (t: Teardown, role: string, env: Environment): RoleProcess {
  const deaths: string[] = []
  let run = 0
  let process: Ringledger | undefined
  let url = ''
  let listening = Promise.resolve()
  return {
    role,
    deaths,
    url: () => url,
    up: () => listening,
    words: () => process?.stderr().slice(-1_500) ?? '',
    start () {
      listening = listens(++run)
      listening.catch(() => {}) // told by `up`
    },
    async kill () {
      run++
      process?.signal('SIGKILL')
      await process?.ended
    }
  }

  async function listens (mine: number): Promise<void> {
    for (const deadline = Date.now() + startWithinMs; mine === run;) {
      const started = process = ringledger(t, [role], env)
      try {
        url = await started.says((_, stderr) => new RegExp(`${role} is listening on (\\S+)`).exec(stderr)?.[1])
        void started.ended.then(({ code, signal }) => { if (mine === run) deaths.push(`${role} ended with ${signal ?? code}: ${started.stderr().slice(-500)}`) })
        return
      } catch (error) {
        started.signal('SIGKILL')
        if (mine === run && Date.now() > deadline) throw error
      }
    }
  }
}
