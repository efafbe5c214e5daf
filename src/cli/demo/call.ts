// The demo's requests: each is held to the status that it expects.

export interface Answer<Data> {
  status: number
  headers: Headers
  body: { message: string, data: Data }
}

export type Call = ReturnType<typeof caller>

/** Sends one request and holds the answer to the expected status. A text is CSV. */
export function caller (url: string) {
  return async function call<Data> (
    method: string, path: string, token: string, expected: number, body?: object | string
  ): Promise<Answer<Data>> {
    const type = typeof body === 'string' ? 'text/csv' : 'application/json'
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }) },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const answer: Answer<Data>['body'] = JSON.parse(await response.text())
    const answered = `${method} ${path} answered ${response.status} and not ${expected}`
    expect(response.status === expected, `${answered}: ${JSON.stringify(answer)}`)
    return { status: response.status, headers: response.headers, body: answer }
  }
}

/** @throws an error that says the problem */
export function expect (holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem)
}
