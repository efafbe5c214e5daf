// Asks the receiver's process how fast webhooks came.
import { setTimeout as delay } from 'node:timers/promises'

const quietForMs = 60_000

export interface Arrived { count: number, bytes: number, perSecond: number }

export interface Measuring {
  url: string
  /**
   * What came during `work`, and its average `bytes`. `arrived` resolves when there were `count`.
   * @throws when `work` does, or ends before that
   */
  during (count: number, work: (arrived: Promise<void>) => Promise<void>): Promise<Arrived>
}

export function measuring (url: string): Measuring {
  async function ask (method = 'GET'): Promise<Arrived> {
    const answer = await fetch(`${url}/arrivals`, { method })
    return JSON.parse(await answer.text())
  }

  return {
    url,
    async during (count, work) {
      await ask('DELETE')
      const waiting = new AbortController()
      const arrived = until(count, waiting.signal)
      arrived.catch(() => {}) // `during` finds the same below
      await work(arrived).finally(() => waiting.abort())
      const { bytes, ...found } = await ask()
      if (found.count !== count) throw new Error(`${found.count} of ${count} webhooks arrived`)
      return { ...found, bytes: bytes / count }
    }
  }

  async function until (count: number, signal: AbortSignal): Promise<void> {
    for (let found = -1, before = 0, since = Date.now(); found < count; before = found) {
      found = (await ask()).count
      if (found !== before) since = Date.now()
      if (Date.now() - since > quietForMs) throw new Error(`${found} of ${count} webhooks arrived, and then no more`)
      await delay(100, undefined, { signal })
    }
  }
}
