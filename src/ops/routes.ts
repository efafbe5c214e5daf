// The API for operators. Here is the service as a whole: what waits, the last day, durable work, settings, and what the
// doctor finds. Projections and webhooks have files of their own.
import { listWork } from '../../workers/work/requests.js'
import type { App } from '../http/app-types.js'
import { answered, One } from '../http/docs/describe.js'
import { All, day, Day, finding, Finding, forOperators, queue, Queue, setting, Setting, work, Work } from './answers.js'
import { addProjections } from './routes-projections.js'
import { addWebhooks } from './routes-webhooks.js'
import type { OpsServices } from './services.js'

const mostWork = 200

/** Needs a token of the role `ops`. */
export function addOps (app: App, deps: OpsServices): void {
  for (const add of [addProjections, addWebhooks, addService]) add(app, deps)
}

function addService (app: App, { pool, config, ...deps }: OpsServices): void {
  app.get('/ops/api/queue', forOperators('getWebhookQueue', 'See what waits to be sent',
    'The delivery log in numbers.', {
      response: { 200: answered('As of now.', One(Queue), { data: queue }) }
    }), async () => ({ data: await deps.queue() }))

  app.get('/ops/api/day', forOperators('getLastDay', 'See the last day',
    'Attempts by the hour and commands by ten minutes, of the last 24 hours. It is counted once a minute.', {
      response: { 200: answered('The last 24 hours, oldest first.', One(Day), { data: day }) }
    }), async () => ({ data: await deps.day() }))

  app.get('/ops/api/work', forOperators('listWork', 'List what is done in the background',
    'Imports, exports, erasures and recoveries that have not ended, the oldest first, and behind them those ' +
      `that failed within a day; ${mostWork} at most.`, {
      response: { 200: answered('All of it.', All(Work), { data: [work] }) }
    }), async () => ({ data: await listWork(pool, mostWork) }))

  app.get('/ops/api/settings', forOperators('listSettings', 'List the settings',
    'The process that answers shows its own settings, and no secret.', {
      response: { 200: answered('All of them.', All(Setting), { data: [setting] }) }
    }), async () => ({ data: [...config.settings] }))

  app.get('/ops/api/checks', forOperators('listChecks', 'Run the checks of the doctor',
    'On the back ends of the process that answers, at most once in ten seconds. A check takes three seconds at most.', {
      response: { 200: answered('What was found.', All(Finding), { data: [finding] }) }
    }), async () => ({ data: await deps.checks() }))
}
