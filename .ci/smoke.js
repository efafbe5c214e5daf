// Starts the service as the README says, on one DATA_DIR, and stops it as a supervisor, as npm's owner and as a person
// does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'

const [dataDir] = process.argv.slice(2)
const START_MS = 45_000
const STOP_MS = 25_000

await startAndStop('SIGTERM to the service', (npm, service) => process.kill(service, 'SIGTERM'), { exitsWith: 0 })
// npm passes a signal on to the shell of the script only, and a terminal sends Ctrl-C to everybody.
await startAndStop('SIGTERM to npm', (npm) => npm.kill('SIGTERM'))
await startAndStop('Ctrl-C', (npm) => process.kill(-npm.pid, 'SIGINT'))

async function startAndStop (how, stop, { exitsWith } = {}) {
  const port = await freePort()
  const npm = spawn('npm', ['start'], {
    env: { ...process.env, PORT: String(port), DATA_DIR: dataDir }, stdio: ['ignore', 'pipe', 'pipe'], detached: true
  })
  const ended = once(npm, 'exit')
  const early = ended.then(() => { throw new Error('npm start ended before it was ready') })
  early.catch(() => {}) // once it is ready, the end is what we wait for
  const startedAt = Date.now()
  try {
    await within(START_MS, 'the ready line', Promise.race([readyLine(npm), early]))
    const { status } = await fetch(`http://127.0.0.1:${port}/health/live`, { signal: AbortSignal.timeout(5000) })
    if (status !== 200) throw new Error(`GET /health/live answered ${status}`)
    console.log(`ready in ${Date.now() - startedAt} ms, GET /health/live answered ${status}`)
    const service = serviceUnder(npm.pid)
    stop(npm, service)
    const [code, signal] = await within(STOP_MS, `the end of npm after ${how}`, ended)
    await within(STOP_MS, `the end of the service after ${how}`, goneFrom(service))
    if (exitsWith !== undefined && code !== exitsWith) throw new Error(`after ${how} npm start ended with ${signal ?? code}, not ${exitsWith}`)
    console.log(`${how}: stopped, npm ended with ${signal ?? code}`)
  } finally {
    killGroup(npm.pid)
  }
}

async function readyLine (npm) {
  await new Promise((resolve) => {
    for (const [from, to] of [[npm.stdout, process.stdout], [npm.stderr, process.stderr]]) {
      from.setEncoding('utf8').on('data', (text) => {
        to.write(text)
        if (/\blistening\b/i.test(text)) resolve()
      })
    }
  })
}

function serviceUnder (pid) {
  const [, program = '', command] = commandOf(pid).split('\0')
  if (program.endsWith('bin/ringledger.js') && command === 'start') return pid
  return childrenOf(pid).map(serviceUnder).find((found) => found !== undefined)
}

function childrenOf (pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}

async function goneFrom (pid) {
  while (commandOf(pid) !== '') await after(100) // a zombie has no command line
}

function commandOf (pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function killGroup (pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {} // nobody left
}

async function within (ms, what, promise) {
  const timer = new AbortController()
  const late = after(ms, undefined, { signal: timer.signal }).then(() => { throw new Error(`waited ${ms} ms for ${what}`) })
  late.catch(() => {}) // the timer is aborted when the promise was first
  return await Promise.race([promise, late]).finally(() => timer.abort())
}

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
