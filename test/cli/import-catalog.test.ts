// A catalogue file becomes events, once.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { EventLog } from '../../src/log/event-log.js'
import { languagesDecider, voicesDecider } from '../../src/features/catalog/model.js'
import { importCatalog, readCatalogFile, type CatalogFile } from '../../src/cli/catalog.js'
import { scenarios } from '../support/commands/given.js'
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
  t.match(await streams.read('campaign-1'), [{
    type: 'CampaignCreated', data: { campaign_id: 1, user_id: '1', name: 'Spring' }
  }])
  t.match(await streams.read('phonenumber-1'), [{
    type: 'PhoneNumberAdded', data: { user_id: '1', phone_number: '+15551230001' }
  }])
  t.equal(await importCatalog(importingOn(streams), catalog), position, 'it is complete where it was')
  t.equal(await streams.head(), head)
})

t.test('a list of any length is taken, in appends that the store takes', async (t) => {
  const voices = Array.from({ length: 3_000 }, (_, index) => ({ id: 1_000 + index, name: 'x'.repeat(255) }))
  await importCatalog(importingOn(streams), { voices })
  t.equal((await streams.read('catalog-voices')).length, 2 + voices.length)
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

const voice = (id: number, name: string) => ({ type: 'VoiceAdded' as const, data: { id, name } })
const language = (name: string) => ({ type: 'LanguageAdded' as const, data: { name } })

t.test('an entry under another name is renamed, one that is named twice is added once, without what nobody knows', async (t) => {
  scenarios(voicesDecider)([voice(1, 'Ada')]).when({ entries: [{ id: 1, name: 'Eve' }] }).then(t, [voice(1, 'Eve')])
  const odd = { id: 1, name: 'Ada', note: 'x' }
  scenarios(voicesDecider)([]).when({ entries: [odd, odd] }).then(t, [voice(1, 'Ada')])
  scenarios(languagesDecider)([]).when({ entries: [{ name: 'English' }, { name: 'English' }] })
    .then(t, [language('English')])
})
