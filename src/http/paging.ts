// Pages of a list: what a caller asks for, and how a page is answered.
import Type, { type Static, type TSchema } from 'typebox'

/** Query parameters of a list with `perPage` items on a page unless the caller says how many. */
export const paging = (perPage: number) => ({
  page: Type.Integer({
    minimum: 1, maximum: 1_000_000_000, default: 1, description: 'From 1; a page after the last one is empty.'
  }),
  per_page: Type.Integer({ minimum: 1, maximum: 100, default: perPage, description: 'Items on a page.' })
})

const Meta = Type.Object({
  page: Type.Integer(),
  per_page: Type.Integer(),
  total: Type.Integer({ description: 'Items on all pages.' }),
  last_page: Type.Integer({ description: 'Number of the last page; 1 when there is no item.' })
}, { title: 'PageMeta' })

export const PageOf = <Item extends TSchema>(item: Item) => Type.Object({ data: Type.Array(item), meta: Meta })

interface PageParameters { page: number, per_page: number }

export const requestedPage = ({ page, per_page }: PageParameters) => ({ page, perPage: per_page })

export function answerPage<Item> (
  { page, per_page }: PageParameters, { items, total }: { items: Item[], total: number }
): { data: Item[], meta: Static<typeof Meta> } {
  return { data: items, meta: { page, per_page, total, last_page: Math.max(1, Math.ceil(total / per_page)) } }
}
