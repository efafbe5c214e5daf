// `ringledger backup`: the embedded Postgres and the generated secrets of DATA_DIR as one file.
import { printJson, say } from '../output.js'

interface Options { overwrite?: boolean, json?: boolean }

export async function backUp (file: string, { overwrite = false, json }: Options): Promise<void> {
  const [{ operate }, { backUpDataDir }] = await Promise.all([
    import('../shutdown.js'), import('./back-up-data-dir.js')
  ])
  const stopped = 'stopped before its end: there is no backup'
  const backup = await operate(stopped, (operation) => backUpDataDir({ file, overwrite }, operation))
  if (json) return printJson(backup)
  const { bytes, postgres, secrets, elsewhere } = backup
  say(`Backed up DATA_DIR to ${backup.file}: ${(bytes / 1e6).toFixed(1)} MB, of Postgres ${postgres}.`)
  say(`It holds ${secrets.join(', ')}: keep it as safe as those. Only you can read it (mode 0600).`)
  for (const line of elsewhere) say(line)
}
