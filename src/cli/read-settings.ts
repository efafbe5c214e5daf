// The settings of a command.
import { BadSettings, loadConfig, type Config } from '../config.js'
import { settingNames } from '../settings/environment.js'
import { misspelt } from '../settings/misspelt.js'
import { withFiles } from '../settings/secret-files.js'
import { collect } from '../domain/validation.js'
import { say } from './running/output.js'

/** `warn` is told of each name that looks like a setting and is none. @throws BadSettings */
export function readSettings (warn: (line: string) => void = say): Config {
  misspelt(process.env, settingNames).forEach(warn)
  return loadConfig(process.env)
}

/** Where the back ends are, for commands that need no more than that: the other settings may be wrong. */
export interface Places {
  databaseUrl?: string | undefined
  eventStoreUrl?: string | undefined
  eventStoreCaFile?: string | undefined
}

/** @throws BadSettings */
export function readPlaces (): { places: Places, config: Config } {
  misspelt(process.env, settingNames).forEach(say)
  const { DATA_DIR, EVENTSTORE_CA_FILE, ...others } = process.env
  const { values, problems } = withFiles(others, ['DATABASE_URL', 'EVENTSTORE_URL'])
  if (problems.length > 0) throw new BadSettings(collect({}, problems))
  const places: Places = {
    databaseUrl: values.DATABASE_URL || undefined,
    eventStoreUrl: values.EVENTSTORE_URL || undefined,
    eventStoreCaFile: EVENTSTORE_CA_FILE
  }
  return { places, config: loadConfig({ DATA_DIR }) }
}
