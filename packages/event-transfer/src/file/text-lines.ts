// The lines of a text file, which may be packed with gzip.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { TransferRefused } from '../refused.js'

/** Makes what takes the bytes of a text as they come, and gives the text. */
export type Decoder = () => (bytes: Uint8Array) => string

const utf8: Decoder = () => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return (bytes) => decoder.decode(bytes, { stream: true })
}

/**
 * Whole lines. What follows the last line feed was cut off, and so was what a broken gzip stream would go on with.
 * @throws TransferRefused when the file cannot be read or unpacked
 */
export async function * textLines (file: string, decoder = utf8): AsyncGenerator<string, void> {
  const decode = decoder()
  let rest = ''
  try {
    for await (const chunk of await openText(file) as AsyncIterable<Buffer>) {
      const [first = '', ...others] = decoded(file, chunk, decode).split('\n')
      const lines = [rest + first, ...others]
      rest = lines.pop() ?? ''
      yield * lines
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'Z_BUF_ERROR') return // cut off
    if (!code.startsWith('Z_')) throw error
    throw new TransferRefused(`${file} cannot be unpacked: it was changed since it was written`, { cause: error })
  }
}

function decoded (file: string, bytes: Buffer, decode: ReturnType<Decoder>): string {
  try {
    return decode(bytes)
  } catch (cause) {
    throw new TransferRefused(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
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
