// The manifests for Kubernetes fit Kubernetes' own schemas.
import t from 'tap'
import { schemaProblems } from '../../support/deploy/kubernetes-schemas.js'
import { manifests, ofKind, type Manifest } from '../../support/deploy/manifests.js'

const ofKubernetes = manifests.filter(({ kind }) => kind !== 'Kustomization') // that one is read by kustomize alone

t.test('the schemas take every manifest', async (t) => {
  const problems = await schemaProblems(ofKubernetes)
  for (const [index, { kind, metadata }] of ofKubernetes.entries()) t.strictSame(problems[index], [], `${kind} ${metadata.name}`)
})

const container = (deployment: Manifest) => deployment.spec.template.spec.containers[0]

/** What is done to a manifest of a kind, and what is said of it. */
const mistakes: ReadonlyArray<[string, string, (manifest: Manifest) => void, RegExp]> = [
  ['a field that there is not', 'Deployment', (one) => { container(one).securityContext.readOnlyRootFileSystem = true },
    /readOnlyRootFileSystem/],
  ['a field in another place', 'Deployment', (one) => { one.spec.securityContext = {} }, /securityContext/],
  ['a field that is missing', 'Deployment', (one) => { delete one.spec.selector }, /selector/],
  ['a value that is not one of those', 'Deployment', (one) => { one.spec.strategy.type = 'Rolling' }, /Rolling/],
  ['a quantity in an unknown unit', 'Deployment', (one) => { container(one).resources.limits.memory = '512Mib' }, /quantity/],
  ['a number where text is asked for', 'ConfigMap', (one) => { one.data.PORT = 3000 }, /string/],
  ['a version that there is not', 'HorizontalPodAutoscaler', (one) => { one.apiVersion = 'autoscaling/v2beta9' }, /v2beta9/]
]

t.test('what does not fit is refused', async (t) => {
  const broken = mistakes.map(([, kind, breakIt]) => {
    const [manifest] = structuredClone(ofKind(kind))
    breakIt(manifest)
    return manifest
  })
  const problems = await schemaProblems(broken)
  for (const [index, [what, , , said]] of mistakes.entries()) t.match(problems[index]?.join('\n'), said, what)
})
