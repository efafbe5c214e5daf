// Decodes text that people hand us: files and uploads, as spreadsheets, editors and shells write them.
import { readFileSync } from 'node:fs'

/** We cannot read the bytes as text. The message follows the name of the file and a colon. */
export class NotText extends Error {
  override readonly name = 'NotText'
}

/** Decodes bytes as they come; a call without bytes ends the text. @throws NotText */
type Decode = (bytes?: Uint8Array) => string

const sniffed = 4 // bytes

/** UTF-8 or UTF-16, with or without a byte order mark, which is dropped. Nothing is ever replaced by U+FFFD. */
export function decoder (): Decode {
  let start: Uint8Array = new Uint8Array()
  let decode: Decode | undefined
  return (bytes) => {
    if (decode) return decode(bytes)
    start = bytes ? Buffer.concat([start, bytes]) : start
    if (bytes && start.length < sniffed) return ''
    decode = strictDecoder(encodingOf(start))
    return bytes ? decode(start) : decode(start) + decode()
  }
}

export function textOf (bytes: Uint8Array): string {
  const decode = decoder()
  return decode(bytes) + decode()
}

/** @throws NotText, and errors of the file system */
export const readText = (file: string): string => textOf(readFileSync(file))

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

const others: Array<[start: number[], words: string]> = [
  [[0x50, 0x4b, 3, 4], 'it is an Excel workbook or another ZIP archive: save what it holds as CSV UTF-8, or unpack it'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'it is an old Excel workbook or another Office document: save it as CSV UTF-8'],
  [[0x1f, 0x8b], 'it is packed with gzip: unpack it'],
  [[0xff, 0xfe, 0, 0], 'it is UTF-32: save it as UTF-8'],
  [[0, 0, 0xfe, 0xff], 'it is UTF-32: save it as UTF-8']
]

function encodingOf (bytes: Uint8Array): Encoding {
  const other = others.find(([start]) => start.every((byte, at) => bytes[at] === byte))
  if (other) throw new NotText(other[1])
  const [a, b, c, d] = bytes
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  // Without a mark: it begins with two characters of ASCII, as JSON, CSV and settings do.
  if (a && b === 0 && c && d === 0) return 'utf-16le'
  return a === 0 && b && c === 0 && d ? 'utf-16be' : 'utf-8'
}

function strictDecoder (encoding: Encoding): Decode {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let lines = 1
  let end: Uint8Array = new Uint8Array() // may hold the beginning of a character
  return (bytes) => {
    try {
      const text = decoder.decode(bytes, { stream: bytes !== undefined })
      lines += lineEndsIn(text)
      if (bytes) end = bytes.subarray(-3)
      return text
    } catch (cause) {
      if (encoding !== 'utf-8') throw new NotText('it is broken UTF-16: save it as UTF-8', { cause })
      const from = end.findLastIndex((byte) => byte >= 0xc0) // a line end is no part of a character
      const damaged = Buffer.concat([from < 0 ? new Uint8Array() : end.subarray(from), bytes ?? new Uint8Array()])
      const line = lines + lineEndsIn(damaged.toString().split('\ufffd', 1)[0] ?? '')
      throw new NotText(`line ${line} has bytes that are not UTF-8: save it as UTF-8`, { cause })
    }
  }
}

function lineEndsIn (text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
