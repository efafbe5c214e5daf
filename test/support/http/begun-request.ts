// A request that the service has begun to answer and whose body is still to come.
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'

/** Resolves when the service waits for the body. @returns what sends the body and resolves to the answer */
export async function begunPost (url: string, token: string): Promise<(body: object) => Promise<IncomingMessage>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', expect: '100-continue' }
  const asking = request(url, { method: 'POST', headers })
  asking.flushHeaders()
  await once(asking, 'continue')
  return async (body) => {
    asking.end(JSON.stringify(body))
    const [answer] = await once(asking, 'response') as [IncomingMessage]
    answer.resume()
    return answer
  }
}
