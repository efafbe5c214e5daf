// Writes a long answer as its reader takes it. Of a slow reader the rest goes to a file, so that its producer ends.
import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface Spooled {
  /** What is sent. */
  readonly body: PassThrough
  /** Resolves when more may be written. @throws `signal.reason`, errors of the disk */
  write (chunk: string): Promise<void>
  /** All was written, and nothing has to be held any more. Resolves when the reader has it. */
  end (): Promise<void>
  /** It ends before its end: nobody gets the rest. */
  cutOff (error: Error): Promise<void>
}

interface SpoolOptions {
  /** Called while the reader holds its producer up: `giveUp` makes the rest go to the file. @returns ends that */
  stall? (giveUp: () => void): () => void
  /** How long a reader may take less than 64 KiB, in milliseconds. */
  slowMs?: number
  /** How long a reader may hold its producer up at all. */
  afterMs?: number
  /** How long the file may be read. */
  wholeMs?: number
}

const bufferBytes = 256 * 1024
const leastTaken = 64 * 1024

/** @param signal of the reader, aborted when it is gone */
export function spooled (signal: AbortSignal, options: SpoolOptions = {}): Spooled {
  const { stall = () => () => {}, slowMs = 5_000, afterMs = 60_000, wholeMs = 3_600_000 } = options
  const body = new PassThrough({ highWaterMark: bufferBytes })
  body.on('error', () => {}) // its writer and its reader get the error
  const lateAt = performance.now() + afterMs
  let file: FileHandle | undefined
  return {
    body,
    async write (chunk) {
      signal.throwIfAborted()
      if (file) return void await file.appendFile(chunk)
      if (body.write(chunk)) return
      if (await drained(body, signal, { stall, slowMs, lateAt })) return
      file = await unnamedFile()
    },
    async end () {
      if (!file) return void body.end()
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(wholeMs)])
      await pipeline(createReadStream('', { fd: file, start: 0 }), body, { signal: deadline })
    },
    async cutOff (error) {
      body.destroy(error)
      await file?.close().catch(() => {}) // the pipeline may have closed it
    }
  }
}

interface Patience { stall (giveUp: () => void): () => void, slowMs: number, lateAt: number }

/** Whether it took what it was given before it is late. @throws `signal.reason` */
async function drained (body: PassThrough, signal: AbortSignal, { stall, slowMs, lateAt }: Patience): Promise<boolean> {
  const late = new AbortController()
  const giveUp = () => { late.abort() }
  const left = () => body.writableLength + body.readableLength
  let before = left()
  const timer = setInterval(() => {
    if (before - left() < leastTaken || performance.now() > lateAt) giveUp()
    before = left()
  }, slowMs)
  const forget = stall(giveUp)
  try {
    await once(body, 'drain', { signal: AbortSignal.any([signal, late.signal]) })
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (late.signal.aborted) return false
    throw error
  } finally {
    clearInterval(timer)
    forget()
  }
}

/** Without a name it ends with the process, however that ends. */
async function unnamedFile (): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-export-'))
  try {
    return await open(join(folder, 'rows'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
}
