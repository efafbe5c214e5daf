// Operators find every metric in the documents, and each is recorded as a surface.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { testService } from '../../support/service.js'

t.test('every metric of every role is documented and recorded', async (t) => {
  const METRICS_TOKEN = `${'m'.repeat(32)}1`
  const { url } = await testService(t, ['api', 'projector', 'worker'], { METRICS_TOKEN })
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })).text()
  const documents = await readFile('docs/operations.md', 'utf8')
  const measured = [...text.matchAll(/^# TYPE (ringledger_\w+)/gm)].map(([, name = '']) => name)
  t.ok(measured.length > 20)
  const recorded = [...(await readFile('test/golden/surfaces/metrics.txt', 'utf8')).matchAll(/^\w+ (ringledger_\w+)\{/gm)]
  t.same([...measured].sort(), recorded.map(([, name = '']) => name).sort())
  t.same(measured.filter((name) => !documents.includes(`\`${name}\``)), [])
})
