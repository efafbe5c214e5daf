// A small file system in memory, to be filled. It takes the right to mount one.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Teardown } from '../teardown.js'

export type SmallDisk = Exclude<ReturnType<typeof smallDisk>, string>

/**
 * @param files how many files it has room for
 * @returns the disk, or why this process may not mount one. Start what runs on it afterwards, so that it stops first.
 */
export function smallDisk (t: Teardown, megabytes: number, files = 100_000) {
  const path = mkdtempSync(join(tmpdir(), 'rl-disk-'))
  const options = `size=${megabytes}m,nr_inodes=${files},mode=755`
  const { status, stderr, error } = spawnSync(
    'mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { encoding: 'utf8' }
  )
  if (status !== 0) {
    rmSync(path, { recursive: true })
    return `no small disk can be mounted here: ${error?.message ?? stderr.trim()}`
  }
  t.teardown(() => {
    spawnSync('umount', ['--lazy', path])
    rmSync(path, { recursive: true, force: true })
  })
  const ballast = join(path, 'ballast')
  return {
    path,
    /** Leaves nothing free. */
    fill: () => fill(ballast),
    makeRoom: () => rmSync(ballast)
  }
}

const piece = Buffer.alloc(4096)

function fill (file: string): void {
  const target = openSync(file, 'w')
  try {
    for (;;) writeSync(target, piece)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(target)
  }
}
