// The guide for call engines: its code is the code of the files, which agree on ids. intake.test.ts tries the one in
// TypeScript.
import { readFile, readdir } from 'node:fs/promises'
import t from 'tap'
import { uuidV5 } from '../../docs/call-engine/report-call.js'
import { uuidV5 as ours } from '../../src/log/stored.js'

const folder = 'docs/call-engine'
const guide = await readFile('docs/call-engine.md', 'utf8')

t.test('the code in the guide is the code of the files, and every file is shown', async (t) => {
  const shown = [...guide.matchAll(/^```(ts|python|go|java)\n(.*?)^```$/gms)].map(([, , text]) => text).sort()
  const files = (await readdir(folder)).filter((name) => /\.(ts|py|go|java)$/.test(name))
  t.same(shown, (await Promise.all(files.map((name) => readFile(`${folder}/${name}`, 'utf8')))).sort())
})

t.test('every sample makes its ids in the same namespace, and they are UUIDs of version 5', async (t) => {
  const namespace = /namespace = '([^']+)'/.exec(await readFile(`${folder}/report-call.ts`, 'utf8'))?.[1] ?? ''
  for (const name of ['report_call.py', 'report_call.go', 'ReportCall.java']) {
    t.match(await readFile(`${folder}/${name}`, 'utf8'), namespace, name)
  }
  t.equal(uuidV5('c-1'), ours(namespace, 'c-1'))
})
