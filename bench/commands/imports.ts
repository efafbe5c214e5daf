// Measures an import of leads: `npm run bench:imports`.
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { Scene } from './scene.js'
import { cpuOf, type Pids } from '../support/processes.js'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    /** All roles in one process, as `ringledger start` has them. */
    whole: { type: 'boolean', default: false }
  }
})
const rows = Number(options.rows)
const say = (line: string) => process.stderr.write(`${line}\n`)

const scene = await Scene.open({ users: 10, assistants: 10, leads: 1_000 })
const table = new Table({ head: ['round', 'rows', 'a second', 'CPU ms a row', 'of them'], style: { head: [], border: [] } })
try {
  const { url, pids } = await start()
  await importOf(url, 1_000, 0) // until all of it is compiled
  for (let round = 1; round <= Number(options.rounds); round++) {
    say(`round ${round}: ${rows} rows`)
    const before = cpuOf(pids)
    const seconds = await importOf(url, rows, round)
    const after = cpuOf(pids)
    const spent = Object.keys(pids).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / rows] as const)
    table.push([
      round, rows, (rows / seconds).toFixed(0), spent.reduce((sum, [, ms]) => sum + ms, 0).toFixed(2),
      spent.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ')
    ])
  }
  process.stdout.write(`${table.toString()}\n`)
} finally {
  await scene.close()
}

async function start (): Promise<{ url: string, pids: Pids }> {
  if (options.whole) {
    const { url, pid } = await scene.start('start')
    return { url, pids: scene.pids({ service: pid }) }
  }
  const roles = { projector: await scene.start('projector'), worker: await scene.start('worker') }
  const api = await scene.start('api')
  return { url: api.url, pids: scene.pids({ projector: roles.projector.pid, worker: roles.worker.pid, api: api.pid }) }
}

/** @returns the seconds that it took. @throws when a row was not created */
async function importOf (url: string, count: number, round: number): Promise<number> {
  const numberOf = (n: number) => `+1${round}55${String(n).padStart(7, '0')}`
  const lines = Array.from({ length: count }, (_, n) => `${numberOf(n)},Ada Example,ada@example.com,yearly`)
  const began = performance.now()
  const { data: { id } } = await ask(url, '/user/leads/import?campaign_id=1', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: `phone_number,customer_name,email,plan\r\n${lines.join('\r\n')}\r\n`
  })
  for (;;) {
    const { data } = await ask(url, `/user/lead-import/${id}`)
    if (data.status === 'processing') await delay(100)
    else if (data.created === count) return (performance.now() - began) / 1_000
    else throw new Error(`the import ended with ${JSON.stringify(data)}`)
  }
}

interface Import { data: { id: string, status: string, created: number } }

async function ask (url: string, path: string, init: RequestInit = {}): Promise<Import> {
  const headers = { ...init.headers, authorization: `Bearer ${scene.tokenOf(1)}` }
  const answer = await fetch(`${url}${path}`, { ...init, headers })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
  const body: Import = JSON.parse(await answer.text())
  return body
}
