// The rules for Prometheus and the dashboard for Grafana: they ask for metrics that there are.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { onPath } from '../support/ringledger.js'

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

t.test('what is asked for is documented, and so is measured', async (t) => {
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

const promtool = onPath('promtool')
if (promtool !== undefined) {
  t.test('promtool takes the rules', async (t) => {
    const { stdout } = await promisify(execFile)(promtool, ['check', 'rules', rulesFile])
    t.match(stdout, `SUCCESS: ${rules.length} rules found`)
  })
}
