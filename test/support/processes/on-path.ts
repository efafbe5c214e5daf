// Programs that are not of npm, and may be here or not.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where the first of these is that is on the PATH. */
export function onPath (...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}
