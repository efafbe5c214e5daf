// Runs the work of a short command on connected back ends, and closes them whatever happens.
import type { Logger } from 'pino'
import type { Connections } from '../../services/connections.js'
import type { Makes } from './back-ends.js'

/**
 * `command` names the process to others on the same DATA_DIR. The log goes to stderr, and begins at warnings.
 * What connects is loaded late: a help text and a refused setting do without it.
 */
export async function withConnections<Result> (
  command: string, work: (connections: Connections, log: Logger) => Promise<Result>,
  makes: Makes = 'nothing'
): Promise<Result> {
  const { readSettings } = await import('../read-settings.js')
  const config = readSettings()
  const { openBackEnds } = await import('./back-ends.js')
  const backEnds = await openBackEnds(config, { role: 'command', command, makes })
  try {
    const [{ openLog }, { openConnections }, { completeConfig }] = await Promise.all([
      import('./log.js'), import('../../services/connections.js'), import('./complete-config.js')
    ])
    const { log } = openLog(config.logLevel === 'info' ? 'warn' : config.logLevel, 2)
    const connections = await openConnections(backEnds.urls, await completeConfig(config, makes === 'all'), log)
    try {
      return await work(connections, log)
    } finally {
      await connections.close()
    }
  } finally {
    await backEnds.close()
  }
}
