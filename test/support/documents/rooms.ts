// The picture of the rooms in CONTRIBUTING.md, drawn by dependency-cruiser from the imports that there are.
import { join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import { packageRoot } from '../../../src/package-root.js'

const { default: { options } } = await import(join(packageRoot, '.dependency-cruiser.js'))

/** What nearly every room imports, what imports nearly every room, and what only tests use. */
const leftOut = [
  '^src/(domain|event-store|postgres|sealing|subscriptions|timing|tracing)/',
  '^projections/folding/',
  '^src/(composition|cli)/',
  '^(src|workers)/[^/]+[.]ts',
  '^packages/[^/]+/(test|dist|src/testing)/'
]

/** The path of a room, as the beginning of the paths of its files. */
const room = '^(packages/[^/]+|(src|projections|workers)/[^/]+(?=/)|projections(?=/[^/]+[.]ts))'

/** Mermaid text: an arrow leads from a room to one that it imports. */
export async function pictureOfRooms (): Promise<string> {
  const { output } = await cruise(['src', 'projections', 'workers', 'packages'], {
    ...options,
    baseDir: packageRoot,
    includeOnly: '^(src|projections|workers|packages)/',
    exclude: { path: leftOut.join('|') },
    collapse: room,
    outputType: 'mermaid'
  })
  if (typeof output !== 'string') throw new Error('dependency-cruiser drew nothing')
  return ownFiles(output).trim()
}

/** A group cannot point into itself: the files that lie loose in one become a node of it. */
function ownFiles (mermaid: string): string {
  const groups = [...mermaid.matchAll(/^subgraph (\w+)\[/gm)].map(([, group = '']) => group)
  return groups.filter((group) => new RegExp(`^${group}-->|-->${group}$`, 'm').test(mermaid)).reduce((text, group) => text
    .replace(new RegExp(`^(subgraph ${group}\\[.*)$`, 'm'), `$1\n${group}_["*.ts"]`)
    .replaceAll(new RegExp(`^${group}-->`, 'gm'), `${group}_-->`)
    .replaceAll(new RegExp(`-->${group}$`, 'gm'), `-->${group}_`), mermaid)
}
