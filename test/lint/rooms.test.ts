// A room has so few files that they are seen at a glance.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'

/** Files that lie flat in one folder. */
const most = 12
const places = ['src', 'projections', 'workers', 'bench', 'test', 'packages']

t.test(`no room has more than ${most} files`, async (t) => {
  for (const place of places) {
    const files = readdirSync(join(packageRoot, place), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\/(dist|node_modules)(\/|$)/.test(entry.parentPath))
    const counts = new Map<string, number>()
    for (const { parentPath } of files) counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1)
    for (const [room, count] of counts) t.ok(count <= most, `${room.slice(packageRoot.length + 1)}: ${count}`)
  }
})
