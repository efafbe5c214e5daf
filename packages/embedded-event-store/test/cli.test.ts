// The command line: a server on a Postgres of its own or on the one that is given.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { jsonEvent } from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'
import { collect, connect } from '../src/testing/scratch-event-store.js'

const bin = fileURLToPath(new URL('../../bin/embedded-event-store.js', import.meta.url))

function run (t: Test, args: string[], variables: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, ...variables }
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  child.stderr.resume()
  return child
}

async function works (t: Test, child: ReturnType<typeof run>): Promise<void> {
  const [line] = await once(child.stdout, 'data') as [Buffer]
  const port = /^LISTENING (\d+)\n$/.exec(line.toString())?.[1]
  const client = connect(t, `esdb://127.0.0.1:${port}?tls=false`)
  await client.appendToStream('a', jsonEvent({ type: 'A', data: {} }))
  t.equal((await collect(client.readStream('a'))).length, 1)
}

t.test('with --temporary it serves from a Postgres of its own, and leaves nothing behind', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rl-cli-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const child = run(t, ['--port', '0', '--temporary'], { TMPDIR: folder })
  await works(t, child)
  child.kill('SIGINT')
  t.same(await once(child, 'exit'), [0, null])
  t.same(readdirSync(folder), [])
})

t.test('with a database URL it serves from that Postgres', async (t) => {
  const { url } = await scratchPostgres(t)
  const child = run(t, ['--port', '0', '--database-url', url])
  await works(t, child)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

t.test('an option that it does not know, or a port that is none, is refused with status 1', async (t) => {
  for (const args of [['--prot', '0'], ['--port', '70000']]) t.same(await once(run(t, args), 'exit'), [1, null])
})
