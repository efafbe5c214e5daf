// How much memory of its own each process takes, and whether that grows.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ownMemory } from '../support/processes.js'
import { percentile } from '../support/statistics.js'
import type { Scene } from './scene.js'

export interface Growth {
  name: string
  /** MiB at first and at last: what lives in a process of node; of Postgres, what it takes in a third of the time. */
  first: number
  last: number
  /** Taken at most in any sample. */
  most: number
}

const sampleEveryMs = 1_000
const answerWithinMs = 30_000

type Watched = Pick<Scene, 'dir' | 'pids'>

export class MemorySamples {
  readonly #samples = new Map<string, number[]>()
  readonly #timer: NodeJS.Timeout

  /** @param alive at first, in MiB by process */
  private constructor (private readonly scene: Watched, private readonly alive: Map<string, number>) {
    this.#timer = setInterval(() => this.#sample(), sampleEveryMs)
  }

  static async begin (scene: Watched): Promise<MemorySamples> {
    return new MemorySamples(scene, await aliveIn(scene, 1))
  }

  async end (): Promise<Growth[]> {
    clearInterval(this.#timer)
    const alive = await aliveIn(this.scene, 2)
    return [...this.#samples].map(([name, taken]) => {
      const [first, last] = [this.alive.get(name), alive.get(name)]
      const [from, to] = first !== undefined && last !== undefined ? [first, last] : thirdsOf(taken)
      return { name, first: from, last: to, most: Math.max(...taken) }
    })
  }

  #sample (): void {
    for (const [name, own] of Object.entries(ownMemory(this.scene.pids))) {
      this.#samples.set(name, [...this.#samples.get(name) ?? [], own])
    }
  }
}

/** What the samples of the first and of the last third come down to. */
function thirdsOf (samples: number[]): [number, number] {
  const third = Math.ceil(samples.length / 3)
  return [low(samples.slice(0, third)), low(samples.slice(-third))]
}

/** Asks every process of node, one after the other (`tell-live.ts`). @param nth time that they are asked */
async function aliveIn ({ dir, pids }: Watched, nth: number): Promise<Map<string, number>> {
  const alive = new Map<string, number>()
  for (const [name, pid] of Object.entries(pids)) {
    if (name === 'postgres') continue
    process.kill(pid, 'SIGWINCH')
    const file = join(dir, `live-${pid}-${nth}`)
    const giveUpAt = performance.now() + answerWithinMs
    while (!existsSync(file)) {
      if (performance.now() > giveUpAt) throw new Error(`${name} does not tell how much lives in it`)
      await delay(20)
    }
    alive.set(name, Number(readFileSync(file, 'utf8')) / 2 ** 20)
  }
  return alive
}

const low = (samples: number[]) => percentile(samples, 0.1)
