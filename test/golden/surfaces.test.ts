// What users, operators and call engines see changes only where a change means it.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { Command } from 'commander'
import pino from 'pino'
import { Registry } from 'prom-client'
import { commandLine } from '../../src/cli/commands.js'
import {
  measureBackground, measureDeliveries, measureProcess, measureProjections, observeAttempts, observeImports
} from '../../src/services/metrics.js'
import { openMetrics } from '../../src/http/metrics.js'
import { Environment, settingNames } from '../../src/settings.js'
import { appAlone, unused } from '../support/http/openapi.js'

// What users, operators and call engines see, as text that compares well. No service has to run for it.
const log = pino({ level: 'silent' })

/** The help text of each command, as wide as it is where nobody looks. */
function helpOf (command: Command): string[] {
  let text = ''
  command.configureOutput({ writeOut: (part) => { text += part }, getOutHelpWidth: () => 80 }).outputHelp()
  return [text, ...command.commands.flatMap(helpOf)]
}

/** `.env.example` describes them, and shows the defaults. */
const settings = (): Record<string, { default?: unknown }> =>
  Object.fromEntries(settingNames.map((name) => [name, Reflect.get(Environment.properties, name) ?? {}]))

/** One a line, below the role that has it. */
function metrics (): string {
  const seen: string[] = []
  const { registerMetric } = Registry.prototype
  Registry.prototype.registerMetric = function (metric) {
    const { name, help, labelNames, buckets } = metric as unknown as Measured // prom-client's types hide these fields
    seen.push(`${metric.constructor.name.toLowerCase()} ${name}{${labelNames.join(', ')}}${buckets ? ` ${buckets.join(' ')}` : ''}: ${help}`)
    registerMetric.call(this, metric)
  }
  const of = (role: string, register: () => void) => {
    register()
    return `# ${role}\n${seen.splice(0).sort().join('\n')}\n`
  }
  const all = openMetrics(log)
  const text = [
    of('every role, and the process metrics of prom-client', () => measureProcess(all, unused)),
    of('projector', () => measureProjections(all, unused, unused)),
    of('worker', () => {
      measureDeliveries(all, unused)
      observeAttempts(all)
      measureBackground(all, [], unused)
      observeImports(all)
    })
  ].join('\n')
  Registry.prototype.registerMetric = registerMetric
  return text
}

interface Measured { name: string, help: string, labelNames: string[], buckets?: number[] }

const api: object = (await (await appAlone()).inject('/docs/json')).json()

const isRecording = process.env.TAP_SNAPSHOT === '1'
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** A digest of the file of types and of the document that it was made from: to make it takes seconds. */
async function clientTypes (): Promise<string> {
  const file = 'packages/client/src/api.ts'
  if (isRecording) {
    const { default: openapiTS, astToString } = await import('openapi-typescript')
    const head = '// Made from the API document by `npm run docs:client`. Do not change it by hand.'
    writeFileSync(file, `${head}\n\n${astToString(await openapiTS(JSON.stringify(api)))}`)
  }
  return `${digestOf(json(api))} the API document\n${digestOf(readFileSync(file, 'utf8'))} ${file}\n`
}

/** The messages of the log stand in docs/asyncapi.yaml, payloads in docs/webhooks: tests of their own compare them. */
const surfaces: Record<string, () => string | Promise<string>> = {
  'test/golden/surfaces/api.json': () => json(api),
  'test/golden/surfaces/client-types.txt': clientTypes,
  'test/golden/surfaces/help.txt': () => helpOf(commandLine()).join('\n'),
  'test/golden/surfaces/metrics.txt': metrics,
  'test/golden/surfaces/settings.json': () => json(settings())
}

for (const [file, write] of Object.entries(surfaces)) {
  t.test(`${file} is as it was recorded`, async (t) => {
    const text = await write()
    if (isRecording) writeFileSync(file, text)
    const isSame = readFileSync(file, 'utf8') === text
    const diff = isSame ? '' : spawnSync('diff', ['-u', file, '-'], { input: text, encoding: 'utf8' }).stdout
    t.ok(isSame, `a change that is meant is recorded by npm run docs:surfaces: ${file}`, { diff })
  })
}

t.test('.env.example offers every setting with its default', async (t) => {
  const offered = [...readFileSync('.env.example', 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value]) => [name, value])
  const defaults = Object.entries(settings()).filter(([name]) => !name.endsWith('_FILE') || name === 'EVENTSTORE_CA_FILE')
  const { COMPOSE_PROFILES, ...ofService } = Object.fromEntries(offered) // the one that only Compose knows
  t.same(ofService, Object.fromEntries(defaults.map(([name, schema]) => [name, String(schema.default ?? '')])))
})

/** In the order of the alphabet, for the order of properties is none of the meaning. */
function json (value: unknown): string {
  const sorted = (part: unknown): unknown => typeof part === 'object' && part !== null && !Array.isArray(part)
    ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1))
    : part
  return `${JSON.stringify(value, (_key, part) => sorted(part), 2)}\n`
}
