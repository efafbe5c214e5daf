// GET /user/person-request/{id}/download
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { personRequestNotFound, type PersonRequest } from '../decide.js'
import { isKept } from '../summary.js'
import { Rejection } from '../../../domain/rejection.js'
import { ErrorAnswer, type App } from '../../../http/app-types.js'
import { only } from '../../../http/auth/auth.js'
import { fileName, refusal } from '../../../http/docs/describe.js'
import { exportedPerson } from '../../../http/docs/examples.js'
import { personRequestPath } from '../../../http/path-id.js'
import type { PersonRequestDeps } from './get-person-request.js'

export interface DownloadDeps extends PersonRequestDeps {
  /** The text of the export, part by part as it is taken; nothing when it is not kept any more. */
  openPersonExport (userId: string, id: string): Promise<AsyncIterable<string> | undefined>
}

const notYet = 'The export is being made: try again in a moment.'
const over = 'There is no export, or none any more: ask for another one.'

const schema = {
  operationId: 'downloadPerson',
  summary: 'The copy of what is known of a person',
  description: 'For 24 hours after the request was completed. This needs a token, not a key.',
  tags: ['persons'],
  security: [{ bearer: [] }],
  params: personRequestPath,
  response: {
    200: {
      'x-response-description': 'One JSON document.',
      headers: fileName('person', 'json'),
      content: { 'application/json': { schema: Type.Object({}, { title: 'ExportedPerson' }), example: exportedPerson } }
    },
    404: ErrorAnswer,
    409: refusal(notYet),
    410: refusal(over)
  }
}

export function downloadPerson (app: App, { findPersonRequest, openPersonExport }: DownloadDeps): void {
  const options = { schema, onRequest: only('user'), config: { isClosedToKeys: true } }
  app.get('/user/person-request/:id/download', options, async (request, reply) => {
    await app.acquireReadSlot('export', request, reply)
    const { method, user, params: { id } } = request
    refuseUnlessMade(await findPersonRequest(user.id, id))
    const text = await openPersonExport(user.id, id)
    if (!text) throw new Rejection('gone', over)
    const asFile: FastifyReply = reply.type('application/json; charset=utf-8')
      .header('content-disposition', 'attachment; filename="person.json"')
    return await asFile.send(Readable.from(method === 'HEAD' ? [] : text))
  })
}

/** An erasure has nothing to download. */
function refuseUnlessMade (request: PersonRequest | undefined): void {
  if (request?.type !== 'export') throw personRequestNotFound()
  if (request.status === 'processing') throw new Rejection('not-ready', notYet)
  if (request.status === 'failed' || !isKept(request, Date.now())) throw new Rejection('gone', over)
}
