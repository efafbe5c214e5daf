// `ringledger secrets`: what SECRET_KEY encrypts and derives.
import { noteResealed, reseal as resealTexts } from '../../workers/operate/reseal.js'
import { resealKeys } from '../privacy/rewrap.js'
import { alertSecret, secretKeys } from '../services/complete-config.js'
import { leaveFormerKey } from '../services/generated-secrets.js'
import { print, printJson, say } from './output.js'
import { completeConfig, readSettings, withConnections } from './running.js'
import { operate } from './shutdown.js'

/** Prints the secret that verifies requests to ALERT_WEBHOOK_URL. */
export async function alert ({ json }: { json?: boolean }): Promise<void> {
  const secret = alertSecret(await completeConfig(readSettings()))
  if (json) return printJson({ secret })
  print(`${secret}\n`)
}

/** Re-encrypts everything with SECRET_KEY, so that SECRET_KEY_PREVIOUS can be emptied. */
export async function reseal ({ json }: { json?: boolean }): Promise<void> {
  const stopped = 'stopped before its end: run the same command again, it goes on'
  const { config, resealed, persons } = await operate(stopped, ({ signal, onProgress: show }) =>
    withConnections('ringledger secrets reseal', async ({ pool, streams }, _log, config) => {
      const keys = secretKeys(config)
      const resealed = await resealTexts({
        pool, keys, signal, onProgress: (events) => show({ doing: 'database', events, things: 'texts' })
      })
      const persons = await resealKeys({
        pool,
        streams,
        secretKeys: keys,
        signal,
        onProgress: (events, done) => show({ doing: 'look', events, done, things: 'keys of persons' }),
        onResealed: (events) => show({ doing: 'reseal', events, things: 'keys of persons' })
      })
      await noteResealed(pool, keys)
      return { config, resealed, persons }
    }))
  const { dataDir, backEnds, previousSecretKeys, secrets } = config
  const isLeft = !backEnds.databaseUrl && await leaveFormerKey(dataDir, previousSecretKeys, secrets.secretKey)
  if (isLeft) say(`${dataDir}/secrets.json has SECRET_KEY instead of a former key.`)
  if (json) printJson({ resealed, persons })
  say(resealed + persons === 0
    ? 'Everything is encrypted with SECRET_KEY already.'
    : `Encrypted ${resealed} texts and the keys of ${persons} persons anew. ` +
      'What former keys encrypted of persons is hidden in the event log, and goes with the next scavenge.')
}
