// What the length of one stream does to commands on it.
import type { Scene } from '../support/scene.js'
import { Client } from '../support/client.js'
import { random } from '../support/random.js'
import { median } from '../support/statistics.js'
import { longAssistant, perLength } from './log.js'

export interface LongStream {
  updates: number
  /** Milliseconds: of a change by a process that does not know the stream, and of the next ones by the same. */
  cold: number
  warm: number
  /** Of reading it. */
  read: number
}

const nextOnes = 50

const idsOf = (lengths: readonly number[], updates: number) =>
  Array.from({ length: perLength }, (_, nth) => longAssistant(lengths, updates, nth))

interface Api { change (id: number): Promise<number>, read (id: number): Promise<number> }

/** By an api that has just started, and that other assistants have warmed up. */
export async function measureStreams (scene: Scene, lengths: readonly number[]): Promise<LongStream[]> {
  const api = await scene.start('api')
  const client = new Client(api.url, '127.0.0.1', 1)
  const [token, chance] = [scene.tokenOf(1), random(9)]
  const timed = async (method: string, path: string, body?: object) => {
    const sentAt = performance.now()
    const { status, body: said } = await client.send(method, path, { token, ...(body && { body }) })
    if (status !== 200) throw new Error(`${method} ${path} was answered with ${status}: ${said}`)
    return performance.now() - sentAt
  }
  const change = (id: number) => timed('PUT', `/user/assistant/${id}`, { initial_message: `Hello, ${chance.hex(8)}.` })
  for (let n = 0; n < nextOnes; n++) await change(1)
  const measured = await measureFirst({ change, read: (id) => timed('GET', `/user/assistant/${id}`) }, lengths)
  client.close()
  await api.stop()
  return measured
}

async function measureFirst ({ change, read: get }: Api, lengths: readonly number[]): Promise<LongStream[]> {
  const measured: LongStream[] = []
  for (const updates of lengths) {
    const [cold, warm, read]: [number[], number[], number[]] = [[], [], []]
    for (const id of idsOf(lengths, updates)) {
      cold.push(await change(id))
      for (let n = 0; n < nextOnes; n++) warm.push(await change(id))
      for (let n = 0; n < nextOnes; n++) read.push(await get(id))
    }
    measured.push({ updates, cold: median(cold), warm: median(warm), read: median(read) })
  }
  return measured
}
