// How a feature declares a route: what the API document says of it, then what handles it.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  ContextConfigDefault, FastifySchema, HTTPMethods, RawReplyDefaultExpression, RawRequestDefaultExpression,
  RawServerDefault, RouteGenericInterface, RouteHandlerMethod, RouteShorthandOptions
} from 'fastify'
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { page } from '../http/docs/examples.js'
import { type KeyKind, PageOf, type PageParameters, Paging } from '../http/lists.js'
import { reading, type Sources } from '../http/read-position.js'
import type { Page, Paged } from '../postgres/page.js'
import type { ApiServices } from '../services/services.js'

export type AddRoute = (app: App, services: ApiServices) => void

type Handler<Schema extends FastifySchema> = RouteHandlerMethod<
  RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, RouteGenericInterface, ContextConfigDefault,
  Schema, TypeBoxTypeProvider
>

/** `options` come from `command`, `reading` or Fastify itself; their schema gives the handler its types. */
export const route = <Schema extends FastifySchema>(
  method: HTTPMethods, url: string, options: Omit<RouteShorthandOptions, 'schema'> & { schema: Schema },
  handlerOf: (services: ApiServices) => Handler<Schema>
): AddRoute => (app, services) => {
    app.route({ method, url, ...options, handler: handlerOf(services) }) // App has the type provider
  }

interface List<Item extends TSchema, Filters extends TProperties, Params extends TObject> {
  source: Sources
  /** Items a page holds, unless the caller says how many. */
  perPage: number
  /** Kinds of the keys that rows are sorted by. */
  keys: KeyKind[]
  item: Item
  example: object
  filters?: Filters
  params?: Params
  tags: string[]
  operationId: string
  summary: string
  description: string
  refusals?: Record<number, TSchema>
  isClosedToKeys?: boolean
}

interface Asked<Filters extends TProperties, Params extends TObject> {
  user: { id: string }
  query: Static<TObject<Filters>> & PageParameters
  params: Static<Params>
}

/** A route for a paged list of what belongs to a user. */
export function list<
  Item extends TSchema, Filters extends TProperties = Record<never, TSchema>, Params extends TObject = TObject
> (
  url: string, given: List<Item, Filters, Params>,
  find: (services: ApiServices, page: Page, asked: Asked<Filters, Params>) => Promise<Paged<Static<Item>>>
): AddRoute {
  const { source, perPage, keys, item, example, filters, refusals, isClosedToKeys, ...described } = given
  const paging = new Paging(described.operationId, perPage, keys)
  const schema = {
    ...described,
    querystring: Type.Object({ ...filters, ...paging.parameters }),
    response: { 200: answered('The page that was asked for.', PageOf(item), page(perPage, example)), ...refusals }
  }
  const options: Parameters<typeof route>[2] = { ...reading(source, schema, 'list', paging), config: { isClosedToKeys } }
  return route('GET', url, options, (services) => async (request) => {
    const asked = request as unknown as Asked<Filters, Params> // the schema has validated it
    return paging.answer(asked.query, await find(services, paging.requested(asked.query), asked))
  })
}
