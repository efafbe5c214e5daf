// The Postgres of the system, where there is one: unlike the embedded one it has pg_dump and LZ4.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where Debian and the project's own packages put the programs of each version. */
export const installed = '/usr/lib/postgresql'

/** The folder of its programs. */
export const installedPrograms = existsSync(installed)
  ? readdirSync(installed).map((version) => join(installed, version, 'bin'))
    .filter((folder) => ['initdb', 'postgres', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(folder, name))))
    .at(-1)
  : undefined
