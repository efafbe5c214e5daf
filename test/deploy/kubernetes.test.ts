// The manifests for Kubernetes: each role as the image runs it, with settings that there are, and few rights.
import t from 'tap'
import { packageVersion } from '../../src/package-root.js'
import { loadConfig } from '../../src/config.js'
import { secrets } from '../support/auth/secrets.js'
import { manifestFiles, ofKind } from '../support/deploy/manifests.js'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

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

t.test('no secret is taken before it is filled in', async (t) => {
  for (const name of ['SECRET_KEY', 'LEAD_DIGEST_KEY', 'METRICS_TOKEN']) {
    const value = given[name.toLowerCase().replaceAll('_', '-')]
    t.throws(() => loadConfig({ ...secrets, [name]: value }), new RegExp(name))
  }
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

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string, runbook: string }
}

const rulesFile = 'deploy/prometheus/ringledger.rules.yml'
const { groups: [{ rules }] } = parse(await readFile(rulesFile, 'utf8')) as { groups: [{ rules: Rule[] }] }
const dashboard = JSON.parse(await readFile('deploy/grafana/ringledger.json', 'utf8')) as {
  panels: { title: string, targets: { expr: string }[] }[]
}
const operations = await readFile('docs/operations.md', 'utf8')
const table = /\| metric \| labels \|[^]*?\n\n/.exec(operations)?.[0] ?? ''
const documented = [...table.matchAll(/`(ringledger_\w+)`/g)].map(([, name = '']) => name)
const asked = (text: string) => [...text.matchAll(/ringledger_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))

t.test('each metric that rules and dashboards ask for is documented, and so is measured', async (t) => {
  t.ok(documented.length > 20, 'the metrics are found')
  const shown = dashboard.panels.flatMap(({ targets }) => targets)
  const expressions = [...rules, ...shown].map(({ expr }) => expr)
  t.same([...new Set(expressions.flatMap(asked))].filter((name) => !documented.includes(name)), [])
})

t.test('every metric that is said to be an alarm has a rule', async (t) => {
  const alarming = table.split('\n').filter((row) => /alarm/i.test(row) && !/so alarm on/.test(row))
  const covered = new Set(rules.flatMap(({ expr }) => asked(expr)))
  t.ok(alarming.length > 8)
  t.same(alarming.filter((row) => !asked(row).some((name) => covered.has(name))), [])
})

t.test('every alert has a runbook of its name, of ten lines at most, and there is no other', async (t) => {
  const [, section = ''] = /^## Runbooks\n([^]*?)(?=^## |(?![^]))/m.exec(operations) ?? []
  const runbooks = new Map(section.split(/^### /m).slice(1).map((text) => {
    const [name = '', ...lines] = text.split('\n')
    return [name, lines.filter((line) => line.trim() !== '')]
  }))
  for (const { alert, labels, annotations: { summary, runbook } } of rules) {
    t.match(labels.severity, /^(page|ticket)$/, alert)
    t.ok(summary, alert)
    t.equal(runbook, `docs/operations.md#${alert.toLowerCase()}`)
  }
  t.same([...runbooks.keys()].sort(), rules.map(({ alert }) => alert).sort())
  for (const [name, lines] of runbooks) {
    t.ok(lines.length <= 10, `${name}: ${lines.length} lines`)
    t.ok(lines.filter((line) => /^\d\. /.test(line)).length >= 2, `${name} has steps`)
  }
})
