// `ringledger events copy`, killed half way, again and again.
import t, { type Test } from 'tap'
import { seedOf } from '@ringledger/embedded-postgres/testing'
import { eventually } from '../../support/eventually.js'
import { ringledger, run } from '../../support/ringledger.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { transferable } from '../../support/events/transferable.js'
import { event, fillVaried, written } from '@ringledger/event-transfer/testing'

const postgres = await scratchPostgres(t)
const place = (t: Pick<Test, 'teardown'>, schema: string) => transferable(t, postgres, schema)
const streams = 100
const rounds = 30
const source = await place(t, 'source')
await fillVaried(source.client, source.store)
for (let round = 0; round < rounds; round++) {
  await Promise.all(Array.from({ length: streams }, (_, index) =>
    source.client.appendToStream(`call-${index}`, [event('Round', { round })])))
}
const all = 22 + streams * rounds

t.test('a copier that is killed anywhere goes on where the target stands, and doubles nothing', async (t) => {
  const target = await place(t, 'killed')
  const seed = seedOf('CHAOS_SEED') % 300
  t.comment(`seed ${seed}`)
  for (const [share, signal] of [[0.05, 'SIGKILL'], [0.2, 'SIGKILL'], [0.4, 'SIGINT'], [0.6, 'SIGKILL']] as const) {
    const copier =
      ringledger(t, ['events', 'copy', '--to', target.url, '--in-flight', '32'], { EVENTSTORE_URL: source.url })
    const enough = BigInt(Math.floor(all * share) + seed)
    await eventually(async () => await target.store.head() > enough)
    copier.signal(signal)
    t.match(await copier.ended, signal === 'SIGKILL' ? { signal } : { code: 1 }, `${signal} half way`)
    if (signal === 'SIGINT') t.match(copier.stderr(), /stopped before its end: run the same command again/)
  }
  const { code, stdout } = await run(t, ['events', 'copy', '--to', target.url], { EVENTSTORE_URL: source.url })
  t.equal(code, 0)
  const [, appended] = /^Appended (\d+) events; the target has all (\d+) events/.exec(stdout) ?? []
  t.ok(Number(appended) > 0 && Number(appended) < all * 0.45, `it went on: ${appended} of ${all} were left`)
  t.match(stdout, new RegExp(`the target has all ${all} events of ${streams + 13} streams`))
  t.same(await written(target.store), await written(source.store))
})
