// Who is measured: the roles of Ringledger, and the services in the folders beside this file.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../src/package-root.js'
import type { Scene } from '../support/scene.js'
import type { Pids } from '../support/processes.js'
import { runCommand } from '../support/run.js'

export interface Serving { url: string, pids: Pids }

export interface Contender {
  name: string
  /** Whether an answer means that readers see what was written. */
  waits: boolean
  start (): Promise<Serving>
}

const place = join(packageRoot, 'bench/peers')
const packages = ['emmett-eventstoredb', 'emmett-postgresql']

/** Installs what the peers need, where it is not there: no part of the product has it. */
export async function installed (say: (line: string) => void): Promise<void> {
  for (const name of packages) {
    const dir = join(place, name)
    if (existsSync(join(dir, 'node_modules'))) continue
    say(`npm ci in bench/peers/${name}`)
    await runCommand('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], dir)
  }
}

export const moduleOf = (file: string) => pathToFileURL(join(place, file))

/** Each role is a process, the worker too: what the others have nothing like is in its price. */
export const ringledgerRoles = (scene: Scene, waits: boolean): Contender => ({
  name: 'Ringledger',
  waits,
  async start () {
    const projector = await scene.start('projector')
    const worker = await scene.start('worker')
    const api = await scene.start('api', waits ? {} : { READ_MODEL_WAIT_MS: '0' })
    return { url: api.url, pids: scene.pids({ api: api.pid, projector: projector.pid, worker: worker.pid }) }
  }
})

export const emmettOnEventStore = (scene: Scene, waits: boolean): Contender => ({
  name: 'Emmett on EventStoreDB',
  waits,
  async start () {
    const projector = await scene.startModule(moduleOf('emmett-eventstoredb/projector.js'))
    const api = await scene.startModule(moduleOf('emmett-eventstoredb/api.js'), { WAIT: waits ? '1' : '0' })
    return { url: `http://127.0.0.1:${api.port}`, pids: scene.pids({ api: api.pid, projector: projector.pid }) }
  }
})

/** Its rows are written in the transaction of the append. */
export const emmettOnPostgres = (scene: Scene): Contender => ({
  name: 'Emmett on PostgreSQL',
  waits: true,
  async start () {
    const api = await scene.startModule(moduleOf('emmett-postgresql/api.js'))
    return { url: `http://127.0.0.1:${api.port}`, pids: scene.pids({ api: api.pid }) }
  }
})
