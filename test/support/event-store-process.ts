// The event store as a process that can be killed: compiled for the test, so that it starts at once.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import ts from 'typescript'

const source = fileURLToPath(new URL('../../src/embedded/event-store/', import.meta.url))

export interface EventStoreProcess {
  port: number
  /** Starts it again on the same port. Rejects when it ends before it listens. */
  start (): Promise<void>
  /** kill -9 */
  kill (): Promise<void>
  /** The exit status after `stop`, or after it ended by itself. */
  exited (): Promise<number | null>
  process (): ChildProcess
}

/** Starts `process.ts` against a database, with these options of Node. Killed in `t.teardown`. */
export async function eventStoreProcess (t: Test, databaseUrl: string, options: readonly string[] = []): Promise<EventStoreProcess> {
  const entry = eventStoreEntry(t)
  let child: ChildProcess | undefined
  let port = 0
  let errors = ''

  async function start () {
    const started = spawn(process.execPath, [...options, entry, '--port', String(port)], { env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl }, stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    errors = ''
    started.stderr.on('data', (text: Buffer) => { errors += text.toString() })
    const [line] = await Promise.race([once(started.stdout, 'data'), once(started, 'exit')]) as [unknown]
    const listening = /^LISTENING (\d+)\n$/.exec(String(line))?.[1]
    if (listening === undefined) throw new Error(`The event store did not start: ${errors}`)
    port = Number(listening)
  }

  async function kill () {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  t.teardown(kill)
  await start()
  const running = () => {
    if (child === undefined) throw new Error('Never started')
    return child
  }
  return {
    start,
    kill,
    process: running,
    get port () { return port },
    async exited () {
      if (running().exitCode === null && running().signalCode === null) await once(running(), 'exit')
      return running().exitCode
    }
  }
}

/** `process.ts` as plain JavaScript, in a directory below the project, where its packages are found. */
export function eventStoreEntry (t: Test): string {
  const target = t.testdir()
  writeFileSync(join(target, 'package.json'), '{"type":"module"}')
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(source, file), 'utf8'), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
    })
    const path = join(target, file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, outputText)
  }
  return join(target, 'process.js')
}
