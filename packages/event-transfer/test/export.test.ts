// An export is whole and unchanged, or it is refused; taken back, it is the same log.
import { appendFileSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { eventLine, exportToFile } from '../src/export.js'
import { openExport, parseLine } from '../src/import.js'
import { TransferRefused } from '../src/failure.js'
import type { Store } from '../src/store.js'
import { Limits, logOf } from '../src/source.js'
import { transfer } from '../src/transfer.js'
import { refused } from '@ringledger/embedded-event-store/testing'
import { runs, seedOf } from '@ringledger/embedded-postgres/testing'
import { placesOn } from './support/place.js'
import { event, fillVaried, rawEvent, written } from './support/varied-log.js'

const place = await placesOn(t)
const options = { signal: new AbortController().signal, onProgress () {} }
const source = await place(t)
await fillVaried(source.client, source.store)
const folder = t.testdir()
const whole = join(folder, 'whole.jsonl')
const footer = await exportToFile(whole, await logOf(source.store), options)
const text = readFileSync(whole, 'utf8')
const lines = text.trimEnd().split('\n')

const open = (file: string, allowTruncated = false) => openExport(file, { ...options, allowTruncated })

async function take (file: string, target: Store, allowTruncated = false) {
  return await transfer(await open(file, allowTruncated), target, { ...options, inFlight: 16 })
}

/** A file with this content, beside the whole one. */
function file (name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const refuses = (t: Test, path: string, message: RegExp) => refused(t, open(path), TransferRefused, { message })

t.test('a line is readable, and says base64 only where JSON would not give the same bytes', async (t) => {
  t.match(JSON.parse(lines[0] ?? ''), { format: 'ringledger-events', version: 2, exported_at: /^\d{4}-.*Z$/ })
  t.match(JSON.parse(lines[1] ?? ''), {
    stream: 'assistant-1',
    revision: 0,
    type: 'AssistantCreated',
    contentType: 'application/json',
    created: /^\d{4}-.*Z$/,
    data: { name: 'Zoë 🎧 名前' },
    metadata: { command_id: 'c-1' }
  })
  t.match(JSON.parse(lines[4] ?? ''), {
    stream: 'Straße 🎧',
    revision: 1,
    contentType: 'application/octet-stream',
    data_base64: 'AP8KDYA=',
    metadata_base64: '/gA='
  })
  t.match(lines.at(-1), new RegExp(`^{"end":true,"events":22,"streams":13,"sha256":"${footer.sha256}"}$`))
  t.equal(statSync(whole).mode & 0o777, 0o600, 'only its owner may read it')
})

t.test('whatever an event holds, its line gives it back', async (t) => {
  const json = fc.json().map((json) => Buffer.from(json))
  const unit = fc.nat(0x10f7ff).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800)) // `binary` takes a second
  const text = fc.string({ unit }).map((text) => Buffer.from(text))
  const bytes = fc.oneof(fc.uint8Array().map((bytes) => Buffer.from(bytes)), json, text)
  const names = fc.string({ unit, minLength: 1 })
  const revisions = fc.bigInt(0n, 2n ** 63n - 1n)
  const seed = seedOf('FUZZ_SEED')
  t.comment(`FUZZ_SEED=${seed}`)
  fc.assert(fc.property(names, revisions, bytes, bytes, (stream, revision, data, metadata) => {
    const sent = { ...rawEvent(stream, revision, data, metadata), data, metadata }
    const line = eventLine(sent)
    return !line.includes('\n') && isDeepStrictEqual(parseLine(line, sent.position), { kind: 'event', event: sent })
  }), { seed, numRuns: runs(50) })
})

t.test('an export taken into an empty store is the same log, packed or not, and may be taken again', async (t) => {
  const packed = join(folder, 'packed.jsonl.gz')
  await exportToFile(packed, await logOf(source.store), options)
  t.same(gunzipSync(readFileSync(packed)).toString().split('\n').slice(1), text.split('\n').slice(1))
  const target = await place(t)
  for (const [path, appended] of [[packed, 22], [whole, 0]] as const) {
    const taken = await take(path, target.store)
    t.match(taken, { events: 22, appended, sha256: footer.sha256 })
  }
  t.same(await written(target.store), await written(source.store))
  await target.client.appendToStream('assistant-1', [event()])
  await refused(t, take(whole, target.store), TransferRefused, { message: /stream assistant-1 .* at revision 4/ })
})

t.test('a file that lacks its end is refused, unless its whole lines are asked for', async (t) => {
  const cut = file('cut.jsonl', text)
  truncateSync(cut, Buffer.byteLength(lines.slice(0, 6).join('\n')) + 10)
  await refuses(t, cut, /cut\.jsonl has no last line: it is not whole, its first 5 events are.* --allow-truncated/)
  await refuses(t, file('cut.gz', gzipSync(text).subarray(0, -20)), /cut\.gz has no last line/)
  await refuses(t, file('lacks-newline.jsonl', text.trimEnd()), /has no last line/)

  const target = await place(t)
  t.match(await take(cut, target.store, true), { events: 5, appended: 5 })
  t.match(await take(whole, target.store), { events: 22, appended: 17 }, 'and the whole file goes on from there')
})

t.test('a file that was changed is refused', async (t) => {
  await refuses(t, file('changed.jsonl', text.replace('名前', '名称')), /was changed since it was written/)
  const shorter = file('lacks-line.jsonl', lines.toSpliced(3, 1).join('\n') + '\n')
  await refuses(t, shorter, /tells of 22 events .*, the file has 21/)
  const longer = file('longer.jsonl', text)
  appendFileSync(longer, lines[1] + '\n')
  await refuses(t, longer, /goes on after its last line/)
  const odd = file('odd.jsonl', lines.with(2, '{"stream":"a"}').join('\n') + '\n')
  await refuses(t, odd, /line 3 of .*odd\.jsonl is no event: stream, revision, id, type or contentType is missing/)
  const packed = gzipSync(text)
  packed.writeUInt32LE(0, packed.length - 8) // where its own checksum stands
  await refuses(t, file('changed.gz', packed), /changed\.gz cannot be unpacked/)
})

t.test('a file that is no export, or one of another version, is refused', async (t) => {
  for (const content of ['', '{}', 'events\n', '{"format":"else"}\n', '\u0000']) {
    await refuses(t, file('other.jsonl', content), /other\.jsonl is not a Ringledger export/)
  }
  const newer = file('newer.jsonl', text.replace('"version":2', '"version":3'))
  await refuses(t, newer, /has version 3 of the format, and version 2 is read here/)
  await refuses(t, join(folder, 'none.jsonl'), /none\.jsonl cannot be read: ENOENT/)
  await refuses(t, folder, /cannot be read: .*EISDIR/)
})

t.test('a file that is not UTF-8 is refused', async (t) => {
  const inLatin1 = file('latin1.jsonl', Buffer.from(text.replace('Zoë', 'Zoé'), 'latin1'))
  await refuses(t, inLatin1, /latin1\.jsonl cannot be read: /)
})

t.test('an export that breaks off leaves no file, and the former one as it was', async (t) => {
  const former = file('kept.jsonl', 'former')
  const breaking = {
    head: 1n,
    knows: async () => 'other' as const,
    limits: new Limits(),
    async * read () {
      yield rawEvent('a', 0n, '{}')
      throw new Error('gone')
    }
  }
  await t.rejects(exportToFile(former, breaking, options), { message: 'gone' })
  t.equal(readFileSync(former, 'utf8'), 'former')
  t.same(readdirSync(folder).filter((name) => name.endsWith('.part')), [])
})
