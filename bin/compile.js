// Compiles a checkout whose sources are newer than what was compiled; of commands that start at once, one compiles.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A compilation takes seconds. */
const longestMs = 120_000

/** Ends this process when the sources do not compile. `root` is the folder of the checkout. */
export function compileIfStale (root) {
  if (!isStale(root)) return
  withLock(join(root, 'dist/.compiling'), () => {
    if (isStale(root)) compile(root)
  })
}

function isStale (root) {
  const marker = join(root, 'dist/.built')
  const builtAt = existsSync(marker) ? statSync(marker).mtimeMs : 0
  return sourceFolders(root).some((folder) => isNewer(folder, builtAt))
}

function sourceFolders (root) {
  const packages = join(root, 'packages')
  const names = existsSync(packages) ? readdirSync(packages) : []
  const folders = ['src', 'projections', 'workers'].map((name) => join(root, name))
  return [...folders, ...names.map((name) => join(packages, name, 'src'))].filter((folder) => existsSync(folder))
}

function isNewer (folder, than) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .some((entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > than)
}

function compile (root) {
  process.stderr.write('Compiling the sources to dist/ ...\n')
  try {
    execFileSync(process.execPath, [join(root, 'bin/build.js')], { cwd: root, stdio: ['ignore', 2, 2] })
  } catch {
    process.stderr.write('The sources do not compile.\n')
    process.exitCode = 1
  }
}

/** Does the work while no other process does it. A lock whose process is gone, or may be, counts for nothing. */
function withLock (file, work) {
  mkdirSync(join(file, '..'), { recursive: true })
  for (let tries = 0; !acquired(file); tries++) {
    if (tries === 10) process.stderr.write(`Waiting for another command, which compiles the sources (${file}) ...\n`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
  try {
    work()
  } finally {
    rmSync(file, { force: true })
  }
  if (process.exitCode) process.exit()
}

function acquired (file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (!isAlive(file)) rmSync(file, { force: true })
    return false
  }
}

/** Its number may be another process's by now, or this one's in a container. */
function isAlive (file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    const ageMs = Date.now() - statSync(file).mtimeMs
    if (pid === 0) return ageMs < 1_000 // not yet written
    return pid !== process.pid && ageMs < longestMs && process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}
