// The lines of a text file, which may be packed with gzip.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { TransferRefused } from '../refused.js'

/**
 * Whole lines. What follows the last line feed was cut off, and so was what a broken gzip stream would go on with.
 * @throws TransferRefused when the file cannot be read or unpacked
 */
export async function * textLines (file: string): AsyncGenerator<string, void> {
  let pieces: Buffer[] = []
  try {
    for await (const chunk of await openText(file) as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...pieces, chunk.subarray(start, end)]).toString()
        pieces = []
        start = end + 1
      }
      if (start < chunk.length) pieces.push(chunk.subarray(start))
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'Z_BUF_ERROR') return // cut off
    if (!code.startsWith('Z_')) throw error
    throw new TransferRefused(`${file} cannot be unpacked: it was changed since it was written`, { cause: error })
  }
}

/** The text of a file, unpacked if it is gzip, whatever its name. */
async function openText (file: string): Promise<Readable> {
  const isPacked = await startsAsGzip(file).catch((cause: Error) => {
    throw new TransferRefused(`${file} cannot be read: ${cause.message}`, { cause })
  })
  const bytes = createReadStream(file)
  return isPacked ? pipeline(bytes, createGunzip(), () => {}) : bytes // the reader gets the error
}

async function startsAsGzip (file: string): Promise<boolean> {
  const handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0).finally(() => handle.close())
  return buffer.readUInt16BE() === 0x1f8b
}
