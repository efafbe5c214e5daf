// `ringledger <role>` under a supervisor: killed when a test says so, and started again until it listens.
import { ringledger, type Ended, type Environment, type Ringledger, listeningUrl } from '../support/ringledger.js'
import type { Teardown } from '../support/teardown.js'

const startWithinMs = 120_000

export type RoleProcess = ReturnType<typeof roleProcess>

export function roleProcess (t: Teardown, role: string, env: Environment) {
  const deaths: string[] = []
  let run = 0
  let process: Ringledger | undefined
  let url = ''
  let listening = Promise.resolve()
  return {
    role,
    /** The last output each time that it ended by itself after it had listened. */
    deaths,
    /** Where it listens, or listened last. */
    url: () => url,
    /** Resolves when it listens; rejects when it has not come that far within two minutes. */
    up: () => listening,
    /** The last of its output. */
    words: () => process?.stdout().slice(-1_500) ?? '',
    /** Starts it, again and again while a back end is away; nothing waits for it. */
    start () {
      listening = listens(++run)
      listening.catch(() => {}) // told by `up`
    },
    /** kill -9 of its whole process group, also while it starts. */
    async kill () {
      run++
      process?.signal('SIGKILL')
      await process?.ended
    }
  }

  async function listens (mine: number): Promise<void> {
    const deadline = Date.now() + startWithinMs
    while (mine === run) {
      const started = process = ringledger(t, [role], env)
      try {
        url = await started.says(listeningUrl)
        void started.ended.then((end) => { if (mine === run) deaths.push(`${role} ${lastOf(started, end)}`) })
        return
      } catch (error) {
        started.signal('SIGKILL')
        if (mine === run && Date.now() > deadline) throw error
      }
    }
  }
}

const lastOf = (started: Ringledger, { signal, code }: Ended) =>
  `ended with ${signal ?? code}: ${started.stdout().slice(-500)}${started.stderr().slice(-500)}`
