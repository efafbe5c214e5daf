// The manifests for Kubernetes fit Kubernetes' own schemas.
import t from 'tap'
import { type Manifest, manifests } from '../../support/deploy/manifests.js'
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import ts from 'typescript'

// What the schemas of Kubernetes say against manifests. Types that are made of them refuse fields that there are not,
// as `kubeconform -strict` does; validators that are made of them know formats too, such as that of a quantity.
// They are 4,500 files, so they are installed here and not by every `npm ci`.
type Model = new (manifest: Manifest) => { validate (): void }
const folder = t.testdir({ 'package.json': '{}' })
execFileSync('npm', [
  'install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', 'kubernetes-models@4.5.1'
], { stdio: 'pipe' })
const inFolder = createRequire(join(folder, 'package.json'))

const options: ts.CompilerOptions = {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler
}

/** For each manifest, in their order, what is wrong with it. */
function schemaProblems (manifests: readonly Manifest[]): string[][] {
  const refused = refusedByTypes(manifests)
  return manifests.map((manifest, index) => [...refused[index] ?? [], ...refusedByValidator(manifest)])
}

const moduleOf = ({ apiVersion, kind }: Manifest) => `kubernetes-models/${apiVersion}/${kind}`

function refusedByValidator (manifest: Manifest): string[] {
  try {
    const { [manifest.kind]: Model }: Record<string, Model> = inFolder(moduleOf(manifest))
    if (Model === undefined) return [`there is no ${manifest.kind}`]
    new Model(manifest).validate()
    return []
  } catch (error) {
    return [String(error)]
  }
}

/** Each manifest becomes a file with a constant of its type, and the compiler says what does not fit. */
function refusedByTypes (manifests: readonly Manifest[]): string[][] {
  const files = manifests.map((_, index) => join(folder, `manifest-${index}.ts`))
  const texts = new Map(manifests.map((manifest, index) => [files[index] ?? '', textOf(manifest)]))
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (name) => texts.has(name) || fileExists(name)
  host.readFile = (name) => texts.get(name) ?? readFile(name)
  host.getSourceFile = (name, target, ...others) => {
    const text = texts.get(name)
    return text === undefined ? getSourceFile(name, target, ...others) : ts.createSourceFile(name, text, target)
  }
  const program = ts.createProgram(files, options, host)
  return files.map((name) => program.getSemanticDiagnostics(program.getSourceFile(name)).map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, '\n')))
}

const textOf = (manifest: Manifest) => [
  `import type { I${manifest.kind} } from '${moduleOf(manifest)}'`,
  `export const manifest: I${manifest.kind} = ${JSON.stringify(manifest)}`
].join('\n')

const ofKubernetes = manifests.filter(({ kind }) => kind !== 'Kustomization') // that one is read by kustomize alone

t.test('the schemas take every manifest', t => {
  const problems = schemaProblems(ofKubernetes)
  for (const [index, { kind, metadata }] of ofKubernetes.entries()) t.strictSame(problems[index], [], `${kind} ${metadata.name}`)
  t.end()
})
