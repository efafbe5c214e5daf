// Paging of lists: parameters and their checks, the answer of a page, and the cursor of the next one.
import Type, { type Static, type TSchema } from 'typebox'
import { isUuid } from '../domain/json.js'
import type { FieldErrors } from '../domain/rejection.js'
import type { Page, Paged } from '../postgres/page.js'
import { titleOf } from './docs/describe.js'

const Meta = Type.Object({
  page: Type.Optional(Type.Integer({ description: 'Absent where `after` was given.' })),
  per_page: Type.Integer(),
  total: Type.Optional(Type.Integer({
    description: 'Items on all pages, 10000 where there are more; some of them where a search finds very many. Absent ' +
      'where `after` was given.'
  })),
  total_is_exact: Type.Optional(Type.Boolean({ description: '`false` where there are more than `total`; else absent.' })),
  last_page: Type.Optional(Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Number of the last page; 1 when there is no item, null when the total is not exact. ' +
      'Absent where `after` was given.'
  })),
  cut: Type.Optional(Type.Boolean({
    description: '`true` where the page holds fewer items than `per_page` because they are large: 1 MiB is the most. ' +
      '`next` goes on where it ended.'
  })),
  next: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'What to send as `after` for the items behind this page; null when there are none.'
  })
}, { title: 'PageMeta' })

/** `item` must have a title: the page's title derives from it. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({ data: Type.Array(item), meta: Meta }, { title: `${titleOf(item)}Page` })

export interface PageParameters { page?: number, per_page: number, after?: string }

/** Paging of one list. Its cursors are valid for this list alone, whatever its filters. */
export class Paging {
  /** Query parameters. */
  readonly parameters

  /** `perPage` is the default; `keys` are the kinds of the keys that rows are sorted by. */
  constructor (private readonly list: string, perPage: number, private readonly keys: readonly KeyKind[]) {
    this.parameters = {
      page: Type.Optional(Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'From 1, which is the default; a page after the last one is empty.'
      })),
      per_page: Type.Integer({
        title: `PerPage${perPage}`, minimum: 1, maximum: 100, default: perPage, description: 'Items on a page.'
      }),
      after: Type.Optional(Type.String({
        description: '`meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its ' +
          'beginning, and no item is missed or met twice while others are added. Empty for the first page.'
      }))
    }
  }

  /** Errors of a query string that the schema cannot express. */
  problems ({ page, after }: { page?: unknown, after?: unknown }): FieldErrors {
    if (typeof after !== 'string') return {}
    if (page !== undefined) return { after: ['must not be given together with page'] }
    return this.#keysIn(after) ? {} : { after: ['must be the meta.next of a page of this list, or empty'] }
  }

  requested ({ page = 1, per_page: perPage, after }: PageParameters): Page {
    return after === undefined ? { page, perPage } : { after: this.#keysIn(after) ?? [], perPage }
  }

  answer<Item> (asked: PageParameters, found: Paged<Item>): { data: Item[], meta: Static<typeof Meta> } {
    const { items, total, next, isCut } = found
    const { page = 1, per_page } = asked
    return {
      data: items,
      meta: {
        ...(total && { page }),
        per_page,
        ...(total && counted(total, per_page)),
        ...(isCut && { cut: true }),
        next: next && cursorOf(this.list, next)
      }
    }
  }

  /** The keys in a cursor of this list; undefined when we did not make it. */
  #keysIn (after: string): string[] | undefined {
    if (after === '') return []
    const [ofVersion, list, ...rest] = partsOf(after)
    if (ofVersion !== version || list !== this.list || rest.length !== this.keys.length) return undefined
    const keys = rest.filter((key) => typeof key === 'string')
    const isOurs = this.keys.every((kind, index) => isKey[kind](keys[index] ?? '\0')) && after === cursorOf(list, keys)
    return isOurs ? keys : undefined
  }
}

function counted ({ count, isExact }: NonNullable<Paged<unknown>['total']>, perPage: number) {
  if (!isExact) return { total: count, total_is_exact: false, last_page: null }
  return { total: count, last_page: Math.max(1, Math.ceil(count / perPage)) }
}

// Cursors: opaque texts that say where the next page begins.

/** Formats of the keys of a row. Refuses what Postgres would refuse. */
const isKey = {
  time: (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text) && isInCalendar(text.slice(0, 19)),
  whole: (text: string) => /^\d{1,19}$/.test(text) && BigInt(text) < 2n ** 63n,
  uuid: isUuid,
  text: (text: string) => !text.includes('\0') && text.isWellFormed()
}
export type KeyKind = keyof typeof isKey

/** Raise it when the order of a list changes: it makes older cursors invalid. */
const version = 1

/** JavaScript takes February 31 for March 3, and the hour 24 for the next day. */
function isInCalendar (time: string): boolean {
  const at = new Date(`${time}Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(time)
}

/** The cursor after the row with these keys. */
const cursorOf = (list: string, keys: readonly string[]): string =>
  Buffer.from(JSON.stringify([version, list, ...keys])).toString('base64url')

function partsOf (cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
