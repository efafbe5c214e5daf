// `ringledger restore`: what `ringledger backup` wrote, into an empty DATA_DIR.
import { printJson, say } from '../output.js'

export async function restoreDataDir (file: string, { json }: { json?: boolean }): Promise<void> {
  const [{ operate }, { readSettings }, { shownIn }, { restore }] = await Promise.all([
    import('../shutdown.js'),
    import('../running.js'),
    import('./megabytes.js'),
    import('@ringledger/embedded-postgres/backup')
  ])
  const { dataDir, backEnds } = readSettings()
  if (backEnds.databaseUrl) {
    throw new Error('DATABASE_URL is set, and `ringledger restore` is for the embedded Postgres: ' +
      'restore that one with pg_restore, as docs/operations.md says.')
  }
  const restored = await operate('stopped before its end: DATA_DIR is as it was', ({ signal, onProgress }) =>
    restore({ dataDir, file, command: 'ringledger restore', log: say, onProgress: shownIn('restoring', onProgress), signal }))
  const { dataDir: restoredTo, madeAt, postgres, files } = restored
  if (json) return printJson({ data_dir: restoredTo, made_at: madeAt, postgres, files })
  say(`Restored ${file} of ${madeAt} into ${restoredTo}. ` +
    '`ringledger start` goes on from there: make sure that the service it is a copy of no longer runs.')
}
