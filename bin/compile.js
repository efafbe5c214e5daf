// Compiles a checkout whose sources are newer than what was compiled; of commands that start at once, one compiles.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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

/** Does the work while no other process does it. A lock whose process is gone counts for nothing. */
function withLock (file, work) {
  mkdirSync(join(file, '..'), { recursive: true })
  while (!acquired(file)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
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

function isAlive (file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    return pid === 0 ? Date.now() - statSync(file).mtimeMs < 1_000 : process.kill(pid, 0) // empty: not yet written
  } catch (error) {
    return error.code === 'EPERM'
  }
}
