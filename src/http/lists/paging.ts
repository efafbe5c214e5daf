// Pages of a list: what a caller asks for, what is wrong with it, and how a page is answered.
import Type, { type Static, type TSchema } from 'typebox'
import type { FieldErrors } from '../../domain/rejection.js'
import { titleOf } from '../docs/describe.js'
import { cursorOf, keysIn, type KeyKind } from './cursor.js'

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

/** `item` has a title, that of a page follows from it. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({ data: Type.Array(item), meta: Meta }, { title: `${titleOf(item)}Page` })

interface PageParameters { page?: number, per_page: number, after?: string }
export type RequestedPage = { perPage: number } & ({ page: number } | { after: string[] })

/** What was found for a page: see `Paged` of the read model. */
export interface Found<Item> {
  items: Item[]
  total?: { count: number, isExact: boolean }
  next: string[] | null
  isCut: boolean
}

/** How one list is paged. Its cursors are good for this list alone, whatever its filters. */
export class Paging {
  /** Query parameters. */
  readonly parameters

  /** `perPage` items are on a page unless the caller says how many; rows are sorted by keys of these kinds. */
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

  /** What the schema cannot say of a query string. */
  problems (query: unknown): FieldErrors {
    if (typeof query !== 'object' || query === null) return {}
    const { page, after } = { page: undefined, after: undefined, ...query }
    if (typeof after !== 'string') return {}
    if (page !== undefined) return { after: ['must not be given together with page'] }
    return this.#keysIn(after) ? {} : { after: ['must be the meta.next of a page of this list, or empty'] }
  }

  requested ({ page = 1, per_page: perPage, after }: PageParameters): RequestedPage {
    return after === undefined ? { page, perPage } : { after: this.#keysIn(after) ?? [], perPage }
  }

  answer<Item> (asked: PageParameters, found: Found<Item>): { data: Item[], meta: Static<typeof Meta> } {
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

  #keysIn (after: string): string[] | undefined {
    return after === '' ? [] : keysIn(after, this.list, this.keys)
  }
}

function counted ({ count, isExact }: NonNullable<Found<unknown>['total']>, perPage: number) {
  if (!isExact) return { total: count, total_is_exact: false, last_page: null }
  return { total: count, last_page: Math.max(1, Math.ceil(count / perPage)) }
}
