// The manifests for Kubernetes: each role as the image runs it, with settings that there are, and few rights.
import t from 'tap'
import { packageVersion } from '../../src/package-root.js'
import { loadConfig } from '../../src/config.js'
import { secrets } from '../support/auth/secrets.js'
import { manifestFiles, ofKind } from '../support/deploy/manifests.js'

const pods = [...ofKind('Deployment'), ...ofKind('Job')].map(({ metadata, spec }) => ({ name: metadata.name, spec, pod: spec.template.spec }))
const [{ data: settings }] = ofKind('ConfigMap')
const [{ stringData: given }] = ofKind('Secret')

t.test('kustomize takes every file, and the image of this version', async (t) => {
  const [{ resources, images }] = ofKind('Kustomization')
  t.same([...resources].sort(), manifestFiles.filter((file) => file !== 'kustomization.yaml').sort())
  t.match(images, [{ name: 'ringledger', newTag: packageVersion }])
})

t.test('every setting has a value that is taken', async (t) => {
  const { JWT_SECRET: _none, ...others } = secrets
  const plain = Object.fromEntries(Object.entries<string>(settings).filter(([name]) => !name.endsWith('_FILE')))
  t.equal(loadConfig({ ...others, ...plain, DATABASE_URL: 'postgres://u:p@h/d' }).port, 3000)
})

t.test('every secret that a setting names is mounted', async (t) => {
  const files = Object.values<string>(settings).filter((value) => value.startsWith('/run/secrets/'))
  t.ok(files.length >= 6)
  t.same(files.map((path) => path.split('/').at(-1)).sort(), Object.keys(given).sort())
  for (const { name, pod } of pods) {
    t.match(
      pod.containers[0].volumeMounts, [{ name: 'secrets', mountPath: '/run/secrets/ringledger', readOnly: true }], name
    )
    t.match(pod.volumes, [{ name: 'secrets', secret: { secretName: 'ringledger-secrets' } }], name)
  }
})

t.test('no pod keeps rights that it does not need', async (t) => {
  for (const { name, pod } of pods) {
    t.match(pod, { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } }, name)
    t.match(pod.containers[0].securityContext, {
      readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }
    }, name)
  }
})

t.test('a role is probed, rolled without a gap, and given the time to drain', async (t) => {
  const deployments = ofKind('Deployment')
  t.same(deployments.map(({ metadata }) => metadata.name).sort(), ['api', 'projector', 'worker'].map((role) => `ringledger-${role}`))
  for (const { metadata: { name }, spec } of deployments) {
    const { containers: [container], terminationGracePeriodSeconds: grace } = spec.template.spec
    t.equal(container.livenessProbe.httpGet.path, '/health/live', name)
    t.equal(container.readinessProbe.httpGet.path, '/health/ready', name)
    const noticed = container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold * 1_000
    t.ok(noticed < Number(settings.DRAIN_DELAY_MS), `${name}: that it is not ready is noticed before it closes`)
    t.ok(grace * 1_000 >= Number(settings.DRAIN_DELAY_MS) + 30_000, name)
    t.equal(spec.strategy.rollingUpdate.maxUnavailable, 0, name)
    t.ok(ofKind('PodDisruptionBudget').some((budget) => budget.metadata.name === name), name)
  }
})
