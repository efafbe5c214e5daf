// Backs up a DATA_DIR, on the Postgres that runs there or on one for as long as it takes.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.js'
import { readSettings } from '../running.js'
import { openBackEnds } from '../running.js'
import type { Operation } from '../shutdown.js'
import { shownIn } from './megabytes.js'

export interface DataDirBackup {
  file: string
  bytes: number
  postgres: string
  /** In words. */
  secrets: string[]
  /** What belongs to the service and is not in it, a sentence each. */
  elsewhere: string[]
}

/** Of DATA_DIR, beside what belongs to Postgres. */
const ourFiles = ['secrets.json', 'event-store.port']

/** @throws when DATABASE_URL is set, or there is nothing to back up */
export async function backUpDataDir (
  { file, overwrite }: { file: string, overwrite: boolean }, { signal, onProgress }: Operation
): Promise<DataDirBackup> {
  const config = readSettings()
  const dataDir = await embeddedIn(config)
  const { backUp } = await import('@ringledger/embedded-postgres/backup')
  const backEnds = await openBackEnds(config, { role: 'command', command: 'ringledger backup', makes: 'nothing' })
  try {
    const made = await backUp({
      dataDir, url: backEnds.urls.databaseUrl, file, overwrite, files: ourFiles, signal, onProgress: shownIn('backing up', onProgress)
    })
    return { ...made, ...whatOf(config, dataDir) }
  } finally {
    await backEnds.close()
  }
}

async function embeddedIn ({ backEnds, dataDir }: Config): Promise<string> {
  if (backEnds.databaseUrl) {
    throw new Error('DATABASE_URL is set, and `ringledger backup` is for the embedded Postgres: ' +
      'back up that one with pg_dump, as docs/operations.md says.')
  }
  const { assertHoldsData } = await import('../../services/embedded/running-stack.js')
  await assertHoldsData(dataDir)
  return resolve(dataDir)
}

function whatOf ({ backEnds, jwt, secretKey, leadDigestKey }: Config, dataDir: string) {
  const isGenerated = existsSync(join(dataDir, 'secrets.json'))
  const all = { JWT_SECRET: jwt, SECRET_KEY: secretKey, LEAD_DIGEST_KEY: leadDigestKey }
  const names = (isSet: boolean) =>
    Object.entries(all).filter(([, value]) => (value !== undefined) === isSet).map(([name]) => name)
  const [set, generated] = [names(true), isGenerated ? names(false) : []]
  const ofService = generated.length > 0 ? [`the generated secrets (${generated.join(', ')})`] : []
  return {
    secrets: [...ofService, 'the password of the database'],
    elsewhere: [
      ...set.length > 0 ? [`Not in it, as they are set: ${set.join(', ')}. Keep them with it.`] : [],
      ...backEnds.eventStoreUrl ? ['Not in it: the log, which EVENTSTORE_URL leads to. Back it up now, after this.'] : []
    ]
  }
}
