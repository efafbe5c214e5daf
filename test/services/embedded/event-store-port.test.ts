// The embedded event store of a `start` listens where it listened before.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '@ringledger/embedded-postgres/testing'
import { eventStorePort } from '../../../src/services/embedded/own-stack.js'
import { openStack } from '../../../src/services/embedded/stack.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { dataDir } from '../../support/ringledger.js'

/** Takes any free port, unless one is given, until the end of the test. @returns which */
async function taken (t: Test, port = 0): Promise<number> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const kept = (folder: string) => Number(readFileSync(join(folder, 'event-store.port'), 'utf8'))

t.test('the first start takes the usual port where it is free, and every later start the same', async (t) => {
  const folder = dataDir(t)
  const usual = await freePort()
  t.equal(await eventStorePort({ dataDir: folder, usual, log: t.fail }), usual)
  t.equal(await eventStorePort({ dataDir: folder, log: t.fail }), usual, 'kept under DATA_DIR')
  const second = dataDir(t)
  const other = await eventStorePort({ dataDir: second, usual: await taken(t), log: () => {} })
  t.equal(await eventStorePort({ dataDir: second, usual, log: t.fail }), other, 'also when the usual one is free later')
})

t.test('when another process has the kept port, a new one is chosen, told and kept', async (t) => {
  const folder = dataDir(t)
  const port = await taken(t)
  writeFileSync(join(folder, 'event-store.port'), `${port}\n`)
  const said: string[] = []
  const other = await eventStorePort({ dataDir: folder, log: (line) => { said.push(line) } })
  t.not(other, port)
  t.equal(kept(folder), other)
  t.same(said, [`Port ${port} is taken, so the event store listens on ${other} from now on`])
})

t.test('the port of the service is left to it, also where an earlier start kept it', async (t) => {
  const folder = dataDir(t)
  const usual = await freePort()
  writeFileSync(join(folder, 'event-store.port'), `${usual}\n`)
  for (const dir of [folder, dataDir(t)]) {
    const port = await eventStorePort({ dataDir: dir, usual, servicePort: usual, log: () => {} })
    t.not(port, usual)
    t.equal(kept(dir), port)
  }
})

t.test('EMBEDDED_EVENTSTORE_PORT is taken as it is, and refused when another process listens there', async (t) => {
  const folder = dataDir(t)
  const port = await taken(t)
  const refused = eventStorePort({ dataDir: folder, wanted: port, log: t.fail })
  await t.rejects(refused, { message: `EMBEDDED_EVENTSTORE_PORT is ${port}, and another process listens there` })
  t.equal(await eventStorePort({ dataDir: folder, wanted: 0, log: t.fail }), 0)
  t.throws(() => kept(folder), 'and nothing is kept')
})

t.test('a port that another process takes while this one starts is left to it', async (t) => {
  const { url: databaseUrl } = await scratchPostgres(t)
  const open = async (dir: string, port: number, wanted: Pick<Parameters<typeof openStack>[0], 'eventStorePort'>) => {
    const check = async () => { await taken(t, port) }
    return await openStack({ dataDir: dir, databaseUrl, role: 'start', command: 'test', check, log: () => {}, ...wanted })
  }
  const [folder, port, wanted] = [dataDir(t), await freePort(), await freePort()]
  writeFileSync(join(folder, 'event-store.port'), `${port}\n`)
  const stack = await open(folder, port, {})
  t.teardown(stack.close)
  t.not(kept(folder), port)
  t.equal(new URL(stack.eventStoreUrl.replace('esdb:', 'http:')).port, String(kept(folder)))
  const refused = `EMBEDDED_EVENTSTORE_PORT is ${wanted}, and another process listens there: choose another port`
  await t.rejects(open(dataDir(t), wanted, { eventStorePort: wanted }), { message: refused })
})
