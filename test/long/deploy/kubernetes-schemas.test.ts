// The manifests for Kubernetes fit Kubernetes' own schemas.
import t from 'tap'
import { type Manifest, manifests } from '../../support/deploy/manifests.js'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

// Types that are made of the schemas refuse fields that there are not, as `kubeconform -strict` does.
// They are 4,500 files, so they are installed here and not by every `npm ci`.
const folder = t.testdir({ 'package.json': '{}' })
execFileSync('npm', [
  'install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', 'kubernetes-models@4.5.1'
], { stdio: 'pipe' })

const options: ts.CompilerOptions = {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler
}

/** Each manifest becomes a file with a constant of its type, and the compiler says what does not fit. */
function refusedByTypes (manifests: readonly Manifest[]): string[][] {
  const files = manifests.map((manifest, index) => {
    const file = join(folder, `manifest-${index}.ts`)
    writeFileSync(file, `
      import type { I${manifest.kind} } from 'kubernetes-models/${manifest.apiVersion}/${manifest.kind}'
      export const manifest: I${manifest.kind} = ${JSON.stringify(manifest)}`)
    return file
  })
  const program = ts.createProgram(files, options)
  return files.map((name) => program.getSemanticDiagnostics(program.getSourceFile(name)).map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, '\n')))
}

const ofKubernetes = manifests.filter(({ kind }) => kind !== 'Kustomization') // that one is read by kustomize alone

t.test('the schemas take every manifest', t => {
  const problems = refusedByTypes(ofKubernetes)
  for (const [index, { kind, metadata }] of ofKubernetes.entries()) t.strictSame(problems[index], [], `${kind} ${metadata.name}`)
  t.end()
})
