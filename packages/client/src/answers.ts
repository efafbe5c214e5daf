// Turns answers into data: refusals become errors, and lists yield item by item.

/** The answer of a method of the client. */
export interface Answered<Data> {
  data?: Data
  error?: { message: string, errors?: Record<string, string[]> }
  response: Response
}

/** The service refused, or failed. `fields` are those that a 422 names, each with its reasons. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor (readonly status: number, message: string, readonly fields: Record<string, string[]> = {}) {
    super(message)
  }
}

/** The body of a success. @throws Refused */
export function orThrow<Data> ({ data, error, response }: Answered<Data>): Data {
  if (data === undefined) { // a proxy answers without a message, and HTTP/2 has no text for a status
    throw new Refused(response.status, error?.message ?? (response.statusText || `status ${response.status}`), error?.errors)
  }
  return data
}

interface Page<Item> { data: Item[], meta: { next: string | null } }

/**
 * Yields every item of a list, page by page. `ask` gets the page after the cursor `after`, which is empty for the first
 * page. Concurrent inserts neither hide nor repeat items. @throws Refused
 */
export async function * items<Item> (
  ask: (after: string) => Promise<Answered<Page<Item>>>
): AsyncGenerator<Item, void> {
  let after: string | null = ''
  while (after !== null) {
    const page: Page<Item> = orThrow(await ask(after))
    yield * page.data
    after = page.meta.next
  }
}
