// What users, operators and call engines see, as text that compares well. No service has to run for it.
import type { Command } from 'commander'
import pino from 'pino'
import { Registry } from 'prom-client'
import { commandLine } from '../../../src/cli/commands.js'
import { measureBackground, observeImports } from '../../../src/composition/status/background-metrics.js'
import { measureDeliveries, measureProcess, measureProjections, observeAttempts } from '../../../src/composition/status/metrics.js'
import { openMetrics } from '../../../src/http/status/metrics.js'
import { Environment, settingNames } from '../../../src/settings/environment.js'
import { appAlone, unused } from '../http/app-alone.js'

const log = pino({ level: 'silent' })

/** As the service answers it with the usual settings. */
export async function apiDocument (): Promise<object> {
  return (await (await appAlone()).inject('/docs/json')).json()
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
