// What every route may refuse for is told once, as the default response of each operation: with all of it in each of
// them, a quarter of the document would be references to refusals.
import type { Operation, Response } from './shared-parts.js'

/** What depends on the route stays with it: 404 and 422. A route that has a 409 or a 412 takes the header for it. */
const ofAnyRoute = ['400', '401', '403', '409', '410', '412', '413', '415', '429', '500', '503']

/** Puts a default in place of the usual refusals of the operations. */
export function shareRefusals (operations: readonly Operation[]): void {
  const usual = new Map<string, Response>()
  const refused: Response = { headers: {} }
  for (const { responses = {} } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      if (!ofAnyRoute.includes(status) || '$ref' in response || !isError(response)) continue
      usual.set(status, usual.get(status) ?? response)
      Reflect.deleteProperty(responses, status)
      responses.default = refused
    }
  }
  Object.assign(refused, merged(usual))
}

const isError = ({ content = {} }: Response) => content['application/json']?.schema?.$ref?.endsWith('/Error') ?? false

function merged (usual: ReadonlyMap<string, Response>): Response {
  const statuses = [...usual].sort(([one], [other]) => Number(one) - Number(other))
  return {
    description: ['Refused, or failed:', '', ...statuses.map(([status, { description }]) => `- ${status}: ${description}`)].join('\n'),
    headers: Object.assign({}, ...statuses.map(([, { headers }]) => headers)),
    content: usual.get('401')?.content ?? {}
  }
}
