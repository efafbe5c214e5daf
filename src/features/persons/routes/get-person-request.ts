// GET /user/person-request/{id}
import { personRequestNotFound, type PersonRequest } from '../decide.js'
import { describePersonRequest, PersonRequestAnswer } from '../summary.js'
import { ErrorAnswer, type App } from '../../../http/app-types.js'
import { only } from '../../../http/auth/auth.js'
import { answered, One } from '../../../http/docs/describe.js'
import { personRequest } from '../../../http/docs/examples.js'
import { personRequestPath } from '../../../http/path-id.js'

export interface PersonRequestDeps {
  /** The user's request as the log has it, or nothing when there is none. */
  findPersonRequest (userId: string, id: string): Promise<PersonRequest | undefined>
}

const schema = {
  operationId: 'getPersonRequest',
  summary: 'What became of a request for the data of a person',
  description: 'As the log has it, without an X-Read-Position. This needs a token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  params: personRequestPath,
  response: {
    200: answered('The request.', One(PersonRequestAnswer), { data: personRequest }),
    404: ErrorAnswer
  }
}

export function getPersonRequest (app: App, { findPersonRequest }: PersonRequestDeps): void {
  const options = { schema, onRequest: only('user'), config: { isClosedToKeys: true } }
  app.get('/user/person-request/:id', options, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    const found = await findPersonRequest(request.user.id, request.params.id)
    if (!found) throw personRequestNotFound()
    return { data: describePersonRequest(found) }
  })
}
