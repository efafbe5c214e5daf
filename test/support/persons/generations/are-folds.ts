// Rows that have persons are what the log says, before a replay and after it.
import type { Test } from 'tap'
import { secrets } from '../../auth/secrets.js'
import { dataDir, run } from '../../ringledger.js'
import type { TestService } from '../../service.js'

export async function areFolds (t: Test, { urls }: Pick<TestService, 'urls'>): Promise<void> {
  const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
  for (const what of ['verify', 'replay', 'verify']) {
    for (const name of ['leads', 'calls']) {
      const { code, stdout, stderr } = await run(t, ['projections', what, name], env)
      t.equal(code, 0, `${what} ${name}: ${stdout}${stderr}`)
    }
  }
}
