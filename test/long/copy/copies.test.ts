// `ringledger events copy` with another copy beside it.
import t, { type Test } from 'tap'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { eventStoreCluster } from '../../support/cluster/cluster.js'
import { transferable } from '../../support/events/transferable.js'
import { run } from '../../support/ringledger.js'
import { event, written } from '@ringledger/event-transfer/testing'

const postgres = await scratchPostgres(t)
const place = (t: Pick<Test, 'teardown'>, schema: string) => transferable(t, postgres, schema)

const copy = (t: Test, from: string, to: string, ...more: string[]) =>
  run(t, ['events', 'copy', '--to', to, '--json', ...more], { EVENTSTORE_URL: from })

const streams = 60
const rounds = 10

async function filled (t: Test, schema: string) {
  const source = await place(t, schema)
  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: streams }, (_, index) =>
      source.client.appendToStream(`call-${index}`, [event('Round', { round })])))
  }
  return source
}

t.test('two copies at once end well where the target times out what the other one has under way', async (t) => {
  const [source, target] = [await filled(t, 'both'), await place(t, 'together')]
  const { url, members: [leader] } = await eventStoreCluster(t, target, { size: 1 })
  leader.answersAfterMs = 100
  leader.takesAppendsOf(2)
  const ended = await Promise.all(['64', '7'].map((inFlight) => copy(t, source.url, url, '--in-flight', inFlight)))
  for (const { code, stderr } of ended) t.equal(code, 0, stderr)
  const [one, other] = ended.map(({ stdout }): { events: number, sha256: string } => JSON.parse(stdout))
  t.equal(one?.events, streams * rounds)
  t.strictSame(one?.sha256, other?.sha256)
  t.same(await written(target.store), await written(source.store))
  t.ok(leader.metOwnLike > 0, `${leader.metOwnLike} appends met their like`)
})
