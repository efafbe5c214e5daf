// `ringledger projections list`: every generation of every projection, and what is to be done about it.
import type { Command } from 'commander'
import type { GenerationStatus } from '../../../projections/operate/overview.js'
import { printJson, tableOf } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (projections: Command): void {
  projections.command('list')
    .description('where each projection stands')
    .option('--json', 'for programs')
    .action(listProjections)
}

async function listProjections ({ json }: { json?: boolean }): Promise<void> {
  const [{ overview }, { projections }] = await Promise.all([
    import('../../../projections/operate/overview.js'), import('../../../projections/index.js')
  ])
  const all = await withConnections('ringledger projections list', async ({ pool, streams }) => {
    const head = await streams.head()
    return (await Promise.all(projections.map((projection) => overview(projection, pool, head)))).flat()
  })
  if (json) return printJson(all)
  const head = ['projection', 'generation', 'state', 'code', 'position', 'behind', 'updated', 'owner', 'due']
  process.stdout.write(await tableOf(all.map(rowOf), head))
}

function rowOf (each: GenerationStatus) {
  const { projection, generation, position, behind, owner, due } = each
  const { code_version: code, present_version: present } = each
  const state = [each.state, !each.complete && each.state === 'active' && 'not filled yet', each.paused_since && 'paused']
  const version = code === present ? code : `${code} (this is ${present})`
  return [projection, generation, state.filter(Boolean).join(', '), version, position, behind, each.updated_at, owner ?? 'none', due ?? '']
}
