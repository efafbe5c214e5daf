// `ringledger backup` and `restore`: the embedded Postgres and the generated secrets of DATA_DIR as one file.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config.js'
import { answer, printJson, say } from './output.js'
import type { OnProgress } from './progress.js'
import { openBackEnds, readSettings } from './running.js'
import { operate } from './shutdown.js'

/** Our files in DATA_DIR, in addition to those of Postgres. */
const ourFiles = ['secrets.json', 'event-store.port']

/** Uses the running Postgres, or starts one for the backup. @throws when there is nothing to back up */
export async function backUp (
  file: string, { overwrite = false, json }: { overwrite?: boolean, json?: boolean }
): Promise<void> {
  const backup = await operate('stopped before its end: there is no backup', async ({ signal, onProgress }) => {
    const config = readSettings()
    refuseOwnPostgres(config, 'backup', 'back up that one with pg_dump')
    const { assertHoldsData } = await import('../services/embedded/running-stack.js')
    await assertHoldsData(config.dataDir)
    const dataDir = resolve(config.dataDir)
    const { backUp } = await import('@ringledger/embedded-postgres/backup')
    const backEnds = await openBackEnds(config, { role: 'command', command: 'ringledger backup', makes: 'nothing' })
    try {
      const made = await backUp({
        dataDir,
        url: backEnds.urls.databaseUrl,
        file,
        overwrite,
        files: ourFiles,
        signal,
        onProgress: shownIn('backing up', onProgress)
      })
      return { ...made, ...whatOf(config, dataDir) }
    } finally {
      await backEnds.close()
    }
  })
  if (json) return printJson(backup)
  const { bytes, postgres, secrets, elsewhere } = backup
  say(`Backed up DATA_DIR to ${backup.file}: ${(bytes / 1e6).toFixed(1)} MB, of Postgres ${postgres}.`)
  say(`It holds ${secrets.join(', ')}: keep it as safe as those. Only you can read it (mode 0600).`)
  for (const line of elsewhere) say(line)
}

/** The secrets in a backup, in words, and one sentence for each part of the service that is not in it. */
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

/** Restores a backup into an empty DATA_DIR. */
export async function restore (file: string, { json }: { json?: boolean }): Promise<void> {
  const { restore } = await import('@ringledger/embedded-postgres/backup')
  const config = readSettings()
  refuseOwnPostgres(config, 'restore', 'restore that one with pg_restore')
  const restored = await operate('stopped before its end: DATA_DIR is as it was', ({ signal, onProgress }) => restore({
    dataDir: config.dataDir, file, command: 'ringledger restore', log: say, onProgress: shownIn('restoring', onProgress), signal
  }))
  const { dataDir, madeAt, postgres, files } = restored
  answer(json, { data_dir: dataDir, made_at: madeAt, postgres, files }, `Restored ${file} of ${madeAt} into ${dataDir}. ` +
    '`ringledger start` goes on from there: make sure that the service it is a copy of no longer runs.')
}

function refuseOwnPostgres ({ backEnds }: Config, command: string, instead: string): void {
  if (!backEnds.databaseUrl) return
  throw new Error(`DATABASE_URL is set, and \`ringledger ${command}\` is for the embedded Postgres: ` +
    `${instead}, as docs/operations.md says.`)
}

/** The total bytes are an estimate, which may be too small. */
const shownIn = (doing: string, onProgress: OnProgress) => (done: number, total: number): void => onProgress({
  doing, events: Math.round(done / 1e6), things: 'MB', ...total > 0 && { done: Math.min(done / total, 1) }
})
