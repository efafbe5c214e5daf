// A catalogue file becomes events, once.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { EventLog } from '../../src/log/event-log.js'
import { importCatalog, readCatalogFile, type CatalogFile } from '../../src/cli/catalog.js'
import { importingOn } from '../support/commands/handle-on.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)

const catalog: CatalogFile = {
  voices: [{ id: 1, name: 'Nova' }, { id: 2, name: 'Echo' }],
  languages: ['English', 'Dutch'],
  models: ['gpt-4o'],
  users: [
    { id: 1, campaigns: [{ id: 1, name: 'Spring' }], phone_numbers: [{ id: 1, phone_number: '+15551230001' }] },
    { id: 'user-2' }
  ]
}

function reading (t: Test, contents: unknown): Promise<CatalogFile> {
  const file = join(t.testdir(), 'catalog.json')
  writeFileSync(file, typeof contents === 'string' ? contents : JSON.stringify(contents))
  return readCatalogFile(file)
}

t.test('everything in the file is in the log, and the same file again appends nothing', async (t) => {
  const position = await importCatalog(importingOn(streams), catalog)
  const head = await streams.head()
  t.equal(position, head)
  t.match(await streams.read('catalog-voices'), [{ data: { id: 1, name: 'Nova' } }, { data: { id: 2, name: 'Echo' } }])
  t.match(await streams.read('catalog-languages'), [{ data: { name: 'English' } }, { data: { name: 'Dutch' } }])
  t.match(await streams.read('campaign-1'), [{
    type: 'CampaignCreated', data: { campaign_id: 1, user_id: '1', name: 'Spring' }
  }])
  t.match(await streams.read('phonenumber-1'), [{
    type: 'PhoneNumberAdded', data: { user_id: '1', phone_number: '+15551230001' }
  }])
  t.equal(await importCatalog(importingOn(streams), catalog), position, 'it is complete where it was')
  t.equal(await streams.head(), head)
})

t.test('another name renames, another owner is refused', async (t) => {
  await importCatalog(importingOn(streams), {
    voices: [{ id: 2, name: 'Alloy' }], users: [{ id: 1, campaigns: [{ id: 1, name: 'Summer' }] }]
  })
  t.match((await streams.read('catalog-voices')).at(-1), { data: { id: 2, name: 'Alloy' } })
  t.match((await streams.read('campaign-1')).at(-1), { type: 'CampaignRenamed', data: { name: 'Summer' } })
  await t.rejects(
    importCatalog(importingOn(streams), { users: [{ id: 2, campaigns: [{ id: 1, name: 'Mine' }] }] }),
    { code: 'catalog-conflict' }
  )
})

t.test('lists of any length are taken, in appends that the store takes', async (t) => {
  const voices = Array.from({ length: 3_000 }, (_, index) => ({ id: 1_000 + index, name: 'x'.repeat(255) }))
  await importCatalog(importingOn(streams), { voices })
  t.equal((await streams.read('catalog-voices')).length, 3 + voices.length)
})

t.test('a file is read as editors and shells save it', async (t) => {
  const file = join(t.testdir(), 'catalog.json')
  const text = JSON.stringify({ languages: ['Español'] })
  for (const bytes of [Buffer.from(`\uFEFF${text}\r\n`), Buffer.from(`\uFEFF${text}`, 'utf16le'), Buffer.from(text, 'utf16le').swap16()]) {
    writeFileSync(file, bytes)
    t.strictSame(await readCatalogFile(file), { languages: ['Español'] })
  }
  writeFileSync(file, Buffer.from(text, 'latin1'))
  await t.rejects(readCatalogFile(file), { message: `${file} cannot be read: line 1 has bytes that are not UTF-8: save it as UTF-8` })
})

t.test('a file that is not a catalogue is refused, with every field that is wrong', async (t) => {
  await t.rejects(readCatalogFile(join(t.testdir(), 'missing.json')), { message: /missing\.json cannot be read/ })
  await t.rejects(reading(t, '{nonsense'), { message: /is not JSON/ })
  const wrong = { voices: [{ id: 0, name: '' }], languages: [5], users: [{ campaigns: [{ id: 'x' }] }] }
  await t.rejects(reading(t, wrong), {
    message: /voices\.0\.id must be at least 1\n.*voices\.0\.name must not be empty\n.*languages\.0 must be a string\n.*users\.0\.id is required\n.*users\.0\.campaigns\.0\.name is required\n.*users\.0\.campaigns\.0\.id must be an integer/s
  })
})

t.test('what a projection could not store is refused', async (t) => {
  await t.rejects(reading(t, { voices: [{ id: 1, name: 'a\0b' }], users: [{ id: '\ud800' }] }), {
    message: /voices\.0\.name must not contain NUL.*\n.*users\.0\.id must not contain NUL/
  })
})

t.test('an id that stands twice is refused: the two would rename each other at every import', async (t) => {
  const number = { id: 1, phone_number: '+15551230001' }
  await t.rejects(reading(t, {
    voices: [{ id: 1, name: 'a' }, { id: 1, name: 'b' }],
    users: [
      { id: 1, campaigns: [{ id: 7, name: 'a' }], phone_numbers: [number] },
      { id: 2, campaigns: [{ id: 7, name: 'b' }], phone_numbers: [number] }
    ]
  }), {
    message: /voices\.1\.id must be unique, and 1 is not\n.*users\.1\.campaigns\.0\.id.*\n.*users\.1\.phone_numbers\.0\.id/
  })
})
