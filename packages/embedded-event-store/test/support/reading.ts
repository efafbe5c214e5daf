// A reader of pages that needs no table, and notes which pages were asked for.
import { setImmediate as turn } from 'node:timers/promises'
import type { RecordedEvent } from '../../src/log/event.js'
import { pages, Readers } from '../../src/log/read/pages.js'
import { weightOf } from '../../src/log/weight.js'
import type { PageSize, Range } from '../../src/log/range.js'

export function event (revision: number, data: Uint8Array): RecordedEvent {
  const of = { id: '', type: 'A', isJson: false, created: 0 }
  return { position: revision, stream: 's', revision, ...of, metadata: Buffer.alloc(0), data }
}

export interface Wanted {
  readers: Readers
  last: number
  data: Buffer
  wanted: number
  direction: Range['direction']
  fails: () => boolean
}

/** Reads the revisions 0 to `last`, each with this data. */
export function reading (of: Partial<Wanted> = {}) {
  const { readers = new Readers(), last = 99, data = Buffer.alloc(0), wanted = Infinity } = of
  const { direction = 'forward', fails = () => false } = of
  const asked: Array<PageSize & { from: number, to: number }> = []
  const made = pages(readers, { direction, from: 0, to: last }, wanted, {
    key: ({ revision }) => revision,
    async read (from, to, { events, bytes }) {
      asked.push({ from, to, events, bytes })
      await turn()
      if (fails()) throw new Error('gone')
      const page: RecordedEvent[] = []
      for (let n = 0, weight = 0; n < events && from + n <= to && weight < bytes; n++) {
        const recorded = event(direction === 'forward' ? from + n : to - n, data)
        weight += weightOf(recorded)
        page.push(recorded)
      }
      return page
    }
  })
  return { asked, made }
}
