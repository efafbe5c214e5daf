// Imports an export into the present event store.
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openExport, transfer, type Transferred } from '@ringledger/event-transfer'
import { decoder } from '../../text-files.js'
import type { Operation } from '../shutdown.js'
import { withPresentStore } from './stores.js'

type ImportLogOptions = Operation & { inFlight: number, allowTruncated?: boolean }

/** `-` is stdin. */
export async function importLog (
  file: string, { allowTruncated = false, ...options }: ImportLogOptions
): Promise<Transferred> {
  return await withFile(file, options.signal, async (path) => {
    const source = await openExport(path, { allowTruncated, decoder, ...options })
    return await withPresentStore('import', options.signal, (store) => transfer(source, store, options))
  })
}

/** An export is read twice: its last line shows whether it is whole. Stdin is read once, so it is kept in a file. */
async function withFile<Result> (
  file: string, signal: AbortSignal, work: (path: string) => Promise<Result>
): Promise<Result> {
  if (file !== '-') return await work(file)
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-import-'))
  try {
    const path = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }), { signal })
    return await work(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
