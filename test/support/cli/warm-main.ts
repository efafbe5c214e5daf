// Runs many commands in one process, because starting one is most of its cost.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'

const answerTo = 3
const said = { stdout: '', stderr: '' }
for (const name of ['stdout', 'stderr'] as const) {
  const stream: Writable = process[name]
  stream.setMaxListeners(0) // a command listens until its process ends
  stream.write = (chunk: string | Buffer, ...more: unknown[]) => {
    said[name] += chunk.toString()
    const done = more.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
}
process.setMaxListeners(0)

let exit: number | undefined
process.exit = (code: number) => {
  exit = code
  throw Object.assign(new Error(), { name: 'Interrupted' }) // the command line prints nothing for it
}

let count = 0
for await (const line of createInterface(process.stdin)) {
  const { args, env }: { args: string[], env: Record<string, string> } = JSON.parse(line)
  Object.assign(said, { stdout: '', stderr: '' })
  process.argv.splice(2, Infinity, ...args)
  process.env = env
  process.exitCode = exit = undefined
  const program = new URL(`../../../programs/main.js?${++count}`, import.meta.url).href
  await import(program)
  writeSync(answerTo, `${JSON.stringify({ code: exit ?? process.exitCode ?? 0, ...said })}\n`)
}
process.kill(process.pid, 'SIGKILL') // a command may have left handles open
