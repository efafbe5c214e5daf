// Test files that a test writes, and processes that run them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { FileProcess } from '../../run/process/file-process.js'

const ownTest = new URL('../../run/process/own-test.js', import.meta.url).href

export interface WrittenFiles {
  process: FileProcess
  /** Runs a file with this content. @returns what it reports, and what is wrong with the process */
  run (content: string, timeoutMs?: number): Promise<string>
}

/** One process, which runs file after file. It ends with the test. */
export function writtenFiles (t: Test, env: Record<string, string> = {}, graceMs = 30_000): WrittenFiles {
  const folder = t.testdir()
  const files = new FileProcess({ ...process.env, ...env }, { graceMs, exitMs: 1_500 })
  t.teardown(() => { files.kill() })
  let count = 0
  return {
    process: files,
    async run (content, timeoutMs = 30_000) {
      const source = `${++count}.test.ts`
      const compiled = join(folder, `${count}.mjs`)
      writeFileSync(compiled, `import t from '${ownTest}'\n${content}`)
      let tap = ''
      const wrong = await files.run({ source, compiled, timeoutMs }, { write: (text) => { tap += text } })
      return tap + wrong
    }
  }
}
