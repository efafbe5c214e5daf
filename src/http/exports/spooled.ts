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

/** A reader may hold up what produces the answer for so long, in milliseconds. */
const spoolAfterMs = 60_000
const bufferBytes = 256 * 1024

/** @param signal of the reader, aborted when it is gone @param afterMs for tests */
export function spooled (signal: AbortSignal, afterMs = spoolAfterMs): Spooled {
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
      if (await drained(body, signal, lateAt)) return
      file = await unnamedFile()
    },
    async end () {
      if (!file) return void body.end()
      await pipeline(createReadStream('', { fd: file, start: 0 }), body, { signal })
    },
    async cutOff (error) {
      body.destroy(error)
      await file?.close().catch(() => {}) // the pipeline may have closed it
    }
  }
}

/** Whether it took what it was given before it is late. @throws `signal.reason` */
async function drained (body: PassThrough, signal: AbortSignal, lateAt: number): Promise<boolean> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), Math.max(0, lateAt - performance.now()))
  try {
    await once(body, 'drain', { signal: AbortSignal.any([signal, late.signal]) })
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (late.signal.aborted) return false
    throw error
  } finally {
    clearTimeout(timer)
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
