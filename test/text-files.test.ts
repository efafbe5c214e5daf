// Text as spreadsheets, editors and shells write it; whatever else is refused in words.
import t from 'tap'
import { decoder, textOf } from '../src/text-files.js'
import { runs, seedOf } from '@ringledger/embedded-postgres/testing'
import { anyText, fc } from './support/fuzz/property.js'

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

/** As it comes over a network, in pieces of so many bytes. */
function inPieces (bytes: Uint8Array, size: number): string {
  const decode = decoder()
  let text = ''
  for (let at = 0; at < bytes.length; at += size) text += decode(bytes.subarray(at, at + size))
  return text + decode()
}

t.test('whatever the text, encoding and pieces, it is the text', async (t) => {
  const seed = seedOf('FUZZ_SEED')
  t.comment(`FUZZ_SEED=${seed}`)
  fc.assert(fc.property(anyText(), fc.integer({ min: 1, max: 5 }), (text, size) => {
    const all = [
      Buffer.from(`ab${text}`), Buffer.from(`\uFEFFab${text}`), Buffer.from(`\uFEFFab${text}`, 'utf16le'), utf16be(`\uFEFFab${text}`),
      Buffer.from(`ab${text}`, 'utf16le'), utf16be(`ab${text}`)
    ]
    return all.every((bytes) => textOf(bytes) === `ab${text}` && inPieces(bytes, size) === `ab${text}`)
  }), { seed, numRuns: runs(100) })
  for (const short of ['', 'a', 'é', 'abc']) t.equal(inPieces(Buffer.from(short), 1), short)
})

t.test('whatever is damaged is told by its line, also in pieces', async (t) => {
  const bytes = Buffer.concat([Buffer.from('one 🎧\r\ntwo €\nthr'), Buffer.from('é', 'latin1'), Buffer.from('e\nfour')])
  const error = { name: 'NotText', message: 'line 3 has bytes that are not UTF-8: save it as UTF-8' }
  t.throws(() => textOf(bytes), error)
  for (let size = 1; size < 30; size++) t.throws(() => inPieces(bytes, size), error, `pieces of ${size}`)
  t.throws(() => inPieces(Buffer.from('a\nb€').subarray(0, -1), 2), { message: /^line 2 has/ }, 'cut off in a character')
  t.throws(() => textOf(Buffer.from('\uFEFFabc', 'utf16le').subarray(0, -1)), { message: /broken UTF-16/ })
})

t.test('files of other kinds are told as what they are', async (t) => {
  const kinds: Array<[start: number[], words: RegExp]> = [
    [[0x50, 0x4b, 3, 4, 20, 0], /an Excel workbook or another ZIP archive/],
    [[0xd0, 0xcf, 0x11, 0xe0, 0xa1], /old Excel workbook/],
    [[0x1f, 0x8b, 8, 0], /packed with gzip/],
    [[0xff, 0xfe, 0, 0, 0x61, 0, 0, 0], /UTF-32/]
  ]
  for (const [start, message] of kinds) t.throws(() => inPieces(Buffer.from(start), 1), { message })
})
