// Deliveries of all users, searched; one with its attempts; the endpoints that nothing is sent to.
import { html } from 'ghtml'
import type {
  DeliveryAttempt, DeliveryDetails, DeliveryRequest, DeliverySummary
} from '../../features/webhooks/model.js'
import type { Static } from 'typebox'
import type { TroubledWebhook } from '../../../workers/deliveries/webhooks.js'
import { badge, form, link, table, text, time } from './layout.js'

const statuses = ['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped'] as const

export interface DeliveriesPage {
  root: string
  /** As it was asked for. */
  search: Partial<Record<'q' | 'user' | 'assistant' | 'status', string | undefined>>
  items: DeliverySummary[]
  /** Leads to the next page. */
  next: string | undefined
}

export function deliveriesPage ({ root, search, items, next }: DeliveriesPage): string {
  const head = ['created', 'delivery', 'call', 'assistant', 'status', 'attempts', 'next attempt']
  return html`
<form class="row" method="get" action="${root}/deliveries" role="search">
<div><label>Delivery or call <input type="search" name="q" value="${search.q}"></label></div>
<div><label>User <input name="user" value="${search.user}"></label></div>
<div><label>Assistant <input name="assistant" inputmode="numeric" pattern="[0-9]{1,16}" value="${search.assistant}"></label></div>
<div><label>Status <select name="status"><option value="">any</option>!${statuses.map((status) => html`
<option !${status === search.status ? 'selected' : ''}>${status}</option>`)}</select></label></div>
<button>Search</button></form>
!${table('Deliveries', head, items.map((each) => deliveryRow(root, each)), 'No delivery is like that.')}
!${next === undefined ? '' : html`<p>!${link(next, 'Older ones')}</p>`}`
}

function deliveryRow (root: string, each: DeliverySummary): string[] {
  return [
    time(each.created_at), link(`${root}/deliveries/${each.id}`, each.id.slice(0, 8)), text(each.call_id ?? each.type),
    text(each.assistant_id), statusOf(each), text(each.attempt_count), time(each.next_attempt_at)
  ]
}

const kinds = {
  scheduled: 'waiting', delivered: 'good', held: 'waiting', exhausted: 'bad', cancelled: 'bad', skipped: 'plain'
} as const

const statusOf = ({ status, reason }: Pick<DeliverySummary, 'status' | 'reason'>) =>
  badge(status, kinds[status]) + (reason === null ? '' : html` <span class="soft">${reason}</span>`)

export function deliveryPage (root: string, csrf: string | undefined, delivery: DeliveryDetails): string {
  const { id, call_id: call, type, assistant_id: assistant, attempts, request, created_at: created } = delivery
  const facts: [string, string][] = [
    ['status', statusOf(delivery)], ['call', text(call ?? 'none')], ['type', text(type)],
    ['assistant', text(assistant ?? 'unknown')],
    ['created', time(created)],
    ['next attempt', delivery.next_attempt_at === null ? 'none' : time(delivery.next_attempt_at)]
  ]
  const head = ['trigger', 'n', 'started', 'ms', 'outcome', 'status', 'error', 'answer']
  return html`
<dl class="text">!${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>!${value}</dd></div>`)}</dl>
<h2>Send it again</h2>
!${form(`${root}/deliveries/${id}/redeliver`, csrf, html`<button>Redeliver</button>`)}
<h2>Attempts</h2>
!${table('Attempts', head, attempts.map(attemptRow), 'None yet.')}
<h2>Request</h2>
!${request === null ? html`<p class="none">Nothing was sent yet.</p>` : requestOf(request)}`
}

function attemptRow (attempt: Static<typeof DeliveryAttempt>): string[] {
  const { trigger, n, started_at: started, duration_ms: ms, outcome, status_code: status, error } = attempt
  const { response_excerpt: answer } = attempt
  return [
    text(trigger), text(n), started === null ? 'waits' : time(started), text(ms),
    outcome === null ? '' : badge(outcome, outcome === 'delivered' ? 'good' : 'bad'), text(status), text(error),
    answer ? html`<details><summary>${answer.length} characters</summary><pre>${answer}</pre></details>` : ''
  ]
}

const requestOf = ({ method, url, headers, body }: DeliveryRequest) => html`
<pre tabindex="0" aria-label="Request">${method} ${url}
${Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n')}

${body ?? '(the body is no longer kept)'}</pre>`

export function endpointsPage (root: string, csrf: string | undefined, webhooks: TroubledWebhook[]): string {
  const head = ['user', 'assistant', 'endpoint', 'state', 'reason', 'since', 'until', 'what to do']
  return html`
<p>Nothing is sent to these. A suspended one waits until its user, or you, resume it; a pause ends by itself.</p>
!${table('Endpoints', head, webhooks.map(({ assistant_id: id, user_id: user, url, state, reason, since, until }) => [
    text(user), text(id), text(url), badge(state, state === 'suspended' ? 'bad' : 'waiting'), text(reason), time(since), time(until),
    form(`${root}/endpoints/${id}/resume`, csrf, html`<button aria-label="Resume ${url}">Resume</button>`)
  ]), 'Every endpoint is sent to.')}`
}
