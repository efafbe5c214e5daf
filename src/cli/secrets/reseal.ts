// `ringledger secrets reseal`: leaves the keys of SECRET_KEY_PREVIOUS behind.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

export async function resealSecrets ({ json }: { json?: boolean }): Promise<void> {
  const [
    { loadConfig }, { completeConfig }, { secretKeys }, { leaveFormerKey }, { noteResealed, reseal }, { resealKeys },
    { withProgress }
  ] = await Promise.all([
    import('../../config.js'),
    import('../running.js'),
    import('../../services/complete-config.js'),
    import('../../services/generated-secrets.js'),
    import('../../../workers/operate/reseal.js'),
    import('../../privacy/rewrap/reseal-keys.js'),
    import('../progress.js')
  ])
  const config = await completeConfig(loadConfig(process.env))
  const keys = secretKeys(config)
  const { signal } = new AbortController()
  const { resealed, persons } = await withConnections('ringledger secrets reseal', ({ pool, streams }) =>
    withProgress(signal, async (show) => {
      const resealed = await reseal({ pool, keys, onProgress: (events) => show({ doing: 'database', events, things: 'texts' }) })
      const persons = await resealKeys({
        pool,
        streams,
        secretKeys: keys,
        signal,
        onProgress: (events, done) => show({ doing: 'look', events, done, things: 'keys of persons' }),
        onResealed: (events) => show({ doing: 'reseal', events, things: 'keys of persons' })
      })
      await noteResealed(pool, keys)
      return { resealed, persons }
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
