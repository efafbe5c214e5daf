// The release after this one: these sources with a small patch, built with the libraries that are here.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../../src/package-root.js'
import { dataDir } from '../ringledger.js'
import type { Teardown } from '../teardown.js'

const parts = ['bin', 'src', 'projections', 'workers', 'migrations', 'examples', 'packages', 'package.json', 'package-lock.json']

/** A version of an event, a version of a projection with a column more, and a column more of the ledger. */
const patch: Array<[file: string, text: string | RegExp, instead: string]> = [
  ['src/domain/events.ts', /^/, "import Type from 'typebox'\n"],
  ['src/domain/events.ts', 'firstVersion(AssistantDeactivated)', `firstVersion(AssistantDeactivated).next(
    Type.Object({ ...AssistantDeactivated.properties, by: Type.String() }), (data) => ({ ...data, by: 'nobody' }))`],
  ['src/domain/assistant/decide.ts', 'deactivated_at: now }', 'deactivated_at: now, by: user_id }'],
  ['projections/assistants.ts', /version: \d+/, 'version: 1000'],
  ['projections/assistants.ts', "mode: 'text',", "mode: 'text', deactivated_by: 'text',"],
  ['projections/assistants.ts', 'toRow(assistant, Number(revision))',
    "{ ...toRow(assistant, Number(revision)), deactivated_by: 'by' in event.data ? event.data.by : null }"]
]
const migration = 'ALTER TABLE ledger.api_key_uses ADD COLUMN used_from text;\n'

/** @returns the program, in a folder that is removed in `t.teardown` */
export async function nextRelease (t: Teardown): Promise<string> {
  const folder = dataDir(t)
  for (const part of parts) {
    cpSync(join(packageRoot, part), join(folder, part), {
      recursive: true, filter: (path) => !/[/](dist|node_modules|test)$/.test(path.slice(packageRoot.length))
    })
  }
  for (const [file, text, instead] of patch) {
    const source = readFileSync(join(folder, file), 'utf8')
    const patched = source.replace(text, () => instead)
    if (patched === source) throw new Error(`${file} has no ${text}: make the patch of the next release anew`)
    writeFileSync(join(folder, file), patched)
  }
  writeFileSync(join(folder, 'migrations/900_next_release.sql'), migration)
  linkLibraries(folder)
  await promisify(execFile)(process.execPath, [join(folder, 'bin/build.js')], { cwd: folder, env: { PATH: process.env.PATH } })
  return join(folder, 'bin/ringledger.js')
}

/** What is bundled of them is taken as it is: it is the same. */
function linkLibraries (folder: string): void {
  const [from, to] = [join(packageRoot, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(join(to, '@ringledger'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@ringledger') symlinkSync(join(from, name), join(to, name))
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(to, '@ringledger', name))
  }
  cpSync(join(packageRoot, 'dist/vendor'), join(folder, 'dist/vendor'), { recursive: true })
}
