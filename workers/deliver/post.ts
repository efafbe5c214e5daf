// One guarded POST: what came back, within one deadline from the name's resolution to the last byte.
import { setMaxListeners } from 'node:events'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { request, type Dispatcher } from 'undici'
import { Blocked, NameNotResolved, guardedConnector, type GuardOptions, type Resolve } from './guard.js'
import { openConnections, type Connections } from './connections.js'
import type { Result, Stage } from '../../src/features/webhooks/outcome.js'

interface Post {
  url: string
  headers: Record<string, string>
  body: Buffer
  /** Whole time, in milliseconds. */
  timeoutMs: number
  /** Gives up early; then the outcome is not known. */
  signal: AbortSignal
}

const readAtMost = 64 * 1024
const keepAtMost = 16 * 1024

export type Poster = ReturnType<typeof openPoster>

/** The client of all attempts: HTTP/1.1, no redirects, no proxy of the environment, checked addresses only. */
export function openPoster (guard: GuardOptions, resolve?: Resolve) {
  const connections = openConnections(guardedConnector(guard, resolve))
  return { post: (message: Post) => send(connections, message), close: () => connections.close() }
}

/** Sends and reads the answer. Only `signal` makes it throw. */
async function send (connections: Connections, { url, headers, body, timeoutMs, signal }: Post): Promise<Result> {
  const attempt = startAttempt(timeoutMs, signal)
  const options = { dispatcher: connections.next(), method: 'POST' as const, headers, body, signal: attempt.signal }
  // A restarted receiver has closed all kept connections: this repeats until none is left and a new one is opened.
  const requestFresh = (): Promise<Dispatcher.ResponseData> => request(url, options).catch((error: unknown) => {
    if (connections.isStale(error)) return requestFresh()
    throw error
  })
  try {
    const answer = await unlessAborted(attempt.signal, requestFresh())
    const retryAfter = answer.headers['retry-after']
    return {
      kind: 'answer',
      status: answer.statusCode,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      ...await excerptOf(answer.body, answer.headers['content-encoding'])
    }
  } catch (error) {
    signal.throwIfAborted()
    if (attempt.isLate()) return { kind: 'failure', stage: 'timeout', message: `no answer within ${timeoutMs} ms` }
    const answer = error instanceof Error && unreadable.has(error.name) && answerIn(connections.begunOf(error))
    return answer || { kind: 'failure', stage: stageOf(error), message: messageOf(error) }
  } finally {
    attempt.end()
  }
}

/**
 * Its signal is aborted at its deadline, or when the worker hurries. `AbortSignal.any` would leak an entry in the
 * worker's signal for each attempt, for as long as the process lives, until no further one fits.
 */
function startAttempt (timeoutMs: number, hurry: AbortSignal) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    abort()
  }, timeoutMs)
  setMaxListeners(0, hurry) // as many as there are attempts at once
  if (hurry.aborted) abort()
  else hurry.addEventListener('abort', abort)
  return {
    signal: controller.signal,
    isLate: () => isLate,
    end () {
      clearTimeout(timer)
      hurry.removeEventListener('abort', abort)
    }
  }
}

/** undici obeys a signal only once it is connected, which takes up to five seconds; this obeys it at once. */
async function unlessAborted<Answer> (signal: AbortSignal, answer: Promise<Answer>): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const abort = () => reject(new Error('aborted'))
    signal.addEventListener('abort', abort, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Errors by which undici refuses the headers of an answer, for instance two lengths. */
const unreadable = new Set(['HTTPParserError', 'ResponseContentLengthMismatchError'])

/** The status line counts, whatever comes after it. */
function answerIn (begun?: Buffer): Result | undefined {
  const text = begun?.toString() ?? ''
  const status = /^HTTP\/1\.[01] ([2-5]\d\d)\b/.exec(text)?.[1]
  if (status === undefined) return undefined
  const [head = '', body = ''] = text.split(/\r?\n\r?\n([^]*)/)
  const retryAfter = /^retry-after:[ \t]*(.*)$/im.exec(head)?.[1]
  return { kind: 'answer', status: Number(status), retryAfter, excerpt: body.replaceAll('\0', '\uFFFD'), truncated: true }
}

/** The status is known already: a body that drips, breaks or never ends changes nothing. */
async function excerptOf (
  body: Dispatcher.ResponseData['body'], encoding?: string | string[]
): Promise<{ excerpt: string, truncated: boolean }> {
  const read = await readSome(body, readAtMost)
  const bytes = await unpacked(read.bytes, encoding)
  const excerpt = bytes.subarray(0, keepAtMost).toString('utf8').replaceAll('\0', '\uFFFD')
  return { excerpt, truncated: !read.isWhole || Math.max(read.bytes.length, bytes.length) > keepAtMost }
}

/** Reads until it has more than `most` bytes, or the source breaks. */
async function readSome (source: AsyncIterable<Buffer>, most: number): Promise<{ bytes: Buffer, isWhole: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source) {
      chunks.push(chunk)
      size += chunk.length
      if (size > most) break
    }
    return { bytes: Buffer.concat(chunks), isWhole: size <= most }
  } catch {
    return { bytes: Buffer.concat(chunks), isWhole: false }
  }
}

const flush = { finishFlush: constants.Z_SYNC_FLUSH } // the rest may not have been read
const unpackers = new Map([
  ['gzip', () => createGunzip(flush)], ['x-gzip', () => createGunzip(flush)], ['deflate', () => createInflate(flush)],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })]
])

/** Unpacks as much as is kept, and a bit more if there is more. Returns `bytes` if they cannot be unpacked. */
async function unpacked (bytes: Buffer, encoding?: string | string[]): Promise<Buffer> {
  const unpacker = unpackers.get(String(encoding ?? '').trim().toLowerCase())?.()
  if (!unpacker) return bytes
  unpacker.end(bytes)
  const read = await readSome(unpacker as AsyncIterable<Buffer>, keepAtMost)
  return read.bytes.length > 0 ? read.bytes : bytes
}

function stageOf (error: unknown): Stage {
  const code = codeOf(error)
  if (error instanceof Blocked) return 'blocked'
  if (error instanceof NameNotResolved) return 'dns'
  if (code.endsWith('TIMEOUT') || code === 'ETIMEDOUT') return 'timeout'
  if (/CERT|^ERR_TLS|^ERR_SSL|^EPROTO|^UNABLE_TO/.test(code)) return 'tls'
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return 'connect'
  return 'connection'
}

function codeOf (error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return typeof first === 'object' && first !== null && 'code' in first ? String(first.code) : ''
}

function messageOf (error: unknown): string {
  const isOpenSsl = error instanceof Error && 'library' in error && 'reason' in error
  if (isOpenSsl) return `the TLS handshake failed: ${String(error.reason)}`.slice(0, 500)
  const text = error instanceof Error && error.message !== '' ? error.message : codeOf(error) || String(error)
  return text.slice(0, 500).replaceAll('\0', '')
}
