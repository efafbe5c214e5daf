// What users, operators and call engines see, as text that compares well. No service has to run for it.
import type { Command } from 'commander'
import pino from 'pino'
import { Registry } from 'prom-client'
import { buildApp } from '../../../src/app.js'
import { commandLine } from '../../../src/cli/commands.js'
import { measureBackground, observeImports } from '../../../src/composition/status/background-metrics.js'
import { measureDeliveries, measureProcess, measureProjections, observeAttempts } from '../../../src/composition/status/metrics.js'
import { openMetrics } from '../../../src/http/status/metrics.js'
import { Environment, settingNames } from '../../../src/settings/environment.js'

const log = pino({ level: 'silent' })

/** Stands for what only a request or a scrape uses: it can be called, and each of its properties is the same again. */
const unused = new Proxy(() => {}, { apply: () => unused, get: (_target, name) => typeof name === 'symbol' ? undefined : unused }) as never

/** As the service answers it with the usual settings. */
export async function apiDocument (): Promise<object> {
  const app = await buildApp({
    logger: log,
    basePath: '',
    jwt: { secret: 'x'.repeat(32), roleClaim: 'role' },
    corsOrigins: [],
    rateLimit: { perMinute: 0 },
    healthChecks: {},
    metrics: openMetrics(log),
    ops: { basePath: '', sessionKey: Buffer.alloc(32) } as never,
    routes: unused
  })
  const { body } = await app.inject('/docs/json')
  await app.close()
  return JSON.parse(body)
}

/** The help text of each command, as wide as it is where nobody looks. */
export async function helpTexts (): Promise<string> {
  return helpOf(await commandLine()).join('\n')
}

function helpOf (command: Command): string[] {
  let text = ''
  command.configureOutput({ writeOut: (part) => { text += part }, getOutHelpWidth: () => 80 }).outputHelp()
  return [text, ...command.commands.flatMap(helpOf)]
}

/** `.env.example` describes them, and shows the defaults. */
export const settings = (): Record<string, { default?: unknown }> =>
  Object.fromEntries(settingNames.map((name) => [name, Reflect.get(Environment.properties, name) ?? {}]))

/** One a line, below the role that has it. */
export function metrics (): string {
  const seen: string[] = []
  const { registerMetric } = Registry.prototype
  Registry.prototype.registerMetric = function (metric) {
    const { name, help, labelNames, buckets } = metric as unknown as Measured
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
