// What the routes of imports work with: code of the workers, loaded when it is called.
import type { LeadImportDeps } from '../../features/imports/routes.js'
import { mostImportsOfUser } from '../../features/imports/import-body.js'
import type { Services } from '../services.js'

export async function importDeps ({ connections: { pool } }: Services): Promise<Pick<LeadImportDeps, 'leadImports'>> {
  const [requests, parts, results, { leadImportKind: kind, nothingDone }] = await Promise.all([
    import('../../../workers/background/requests.js'),
    import('../../../workers/imports/parts.js'),
    import('../../../workers/imports/results.js'),
    import('../../../workers/imports/lead-imports.js')
  ])
  return {
    leadImports: {
      addPart: (upload, firstRow, leads) => parts.addPart(pool, upload, firstRow, leads),
      removeUnused: (uploadId, importId) => parts.removeUnused(pool, uploadId, importId),
      underWay: (userId, { route, key }) => requests.countUnfinished(pool, kind, [userId, 'POST', route, key]),
      async prepare ({ id, userId, uploadId, campaignId, total }) {
        const input = { upload_id: uploadId, campaign_id: campaignId }
        const request = { id, kind, userId, input, progress: nothingDone(total) }
        return await requests.prepareRequest(pool, request, mostImportsOfUser)
      },
      accept: (id) => requests.acceptRequest(pool, id),
      find: (userId, id) => requests.findRequest(pool, [kind], userId, id),
      results: (id, page) => results.listResults(pool, id, page),
      eachResult: (id, visit, signal) => results.eachResult(pool, id, visit, signal)
    }
  }
}
