// What the routes of requests for persons work with: code of the workers, loaded when it is called.
import { findOwnRequest, findRequest } from '../../commands/person/person-requests.js'
import { secretKeys } from '../complete-config.js'
import type { Services } from '../services.js'
import type { Routes } from './webhook-deps.js'

export type PersonRoutes = Pick<
  Routes, 'notePersonRequest' | 'noteErasure' | 'acceptErasure' | 'findPersonRequest' | 'openPersonExport'
>

export async function personDeps ({ config, connections: { pool, streams } }: Services): Promise<PersonRoutes> {
  const [requests, parts, background, erasures] = await Promise.all([
    import('../../../workers/persons/requests.js'),
    import('../../../workers/persons/parts.js'),
    import('../../../workers/background/requests.js'),
    import('../../../workers/persons/erasures/request.js')
  ])
  const keys = secretKeys(config)
  const noted = async (id: string) =>
    await requests.isNoted(pool, id) ? {} : await background.progressOf<{ waits_for?: string }>(pool, id)
  /** Where its row is gone already, a retry whose answer was lost is not to begin it anew. */
  const hasEnded = async (id: string) => typeof (await findRequest(streams, id))?.request.finished_at === 'string'
  return {
    notePersonRequest: async (request) => await hasEnded(request.id) || await requests.noteRequest(pool, keys, request),
    noteErasure: async (request) => await hasEnded(request.id) || await erasures.prepareErasure(pool, keys, request),
    acceptErasure: (id) => background.acceptRequest(pool, id),
    findPersonRequest: (userId, id) => findOwnRequest({ streams, noted }, userId, id),
    async openPersonExport (userId, id) {
      return await parts.hasExport(pool, { userId, id }) ? parts.readExport(pool, keys, { userId, id }) : undefined
    }
  }
}
