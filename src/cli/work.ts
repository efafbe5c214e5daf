// `ringledger work`: lists background work.
import { listWork } from '../../workers/work/requests.js'
import { print, printJson, tableOf } from './output.js'
import { withConnections } from './running.js'

export async function list ({ limit, json }: { limit: number, json?: boolean }): Promise<void> {
  const found = await withConnections('ringledger work list', ({ pool }) => listWork(pool, limit))
  if (json) return printJson(found)
  if (found.length === 0) return print('Nothing is under way.\n')
  const head = ['id', 'kind', 'user', 'state', 'begun', 'turns', 'failures', 'next turn', 'waits for', 'last error']
  print(await tableOf(found.map((each) => [
    each.id, each.kind, each.user_id, each.state, each.created_at, each.turns, each.failures,
    each.finished_at ? '' : each.due_at, each.waits_for ?? '', each.last_error ?? ''
  ]), head))
}
