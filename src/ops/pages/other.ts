// The smaller pages: how an action gets on, logging in, what went wrong, and the page at the root of the service.
import { html } from 'ghtml'
import type { ActionReport } from '../../../projections/engine/actions.js'
import { packageVersion } from '../../package-root.js'
import { badge, form, link, time } from './layout.js'

export function actionPage (root: string, report: ActionReport): string {
  const { projection, action, state, progress, message, began_at: began } = report
  const kind = state === 'done' ? 'good' : state === 'failed' ? 'bad' : 'waiting'
  return html`
<p>!${badge(state, kind)} since !${time(began)}: ${action} of !${link(`${root}/projections/${projection}`, projection)}</p>
!${state !== 'running'
    ? ''
    : html`<p><progress aria-label="Progress" !${progress === null ? '' : html`value="${progress}" max="1"`}></progress></p>`}
!${message === '' ? '' : html`<p class="notice !${state === 'failed' ? 'bad' : ''}">${message}</p>`}`
}

export const loginPage = (root: string, next: string, refused: string | undefined) => html`
<p>For operators. Log in with a token of the role <code>ops</code>, as
<code>ringledger token --user you --role ops</code> prints one.</p>
!${refused === undefined ? '' : html`<p class="notice bad" role="alert">${refused}</p>`}
!${form(`${root}/login`, '', html`
<input type="hidden" name="next" value="${next}">
<p><label for="token">Token</label>
<input id="token" name="token" required autocomplete="off" spellcheck="false" autofocus></p>
<p><button>Log in</button></p>
<p class="soft">The session lasts as long as the token, one hour at most.</p>`)}`

export const problemPage = (root: string, message: string) => html`
<p class="notice bad" role="alert">${message}</p>
<p>!${link(root, 'To the overview')}</p>`

/** What the service is, for programs. */
export const about = (basePath: string) => ({
  name: 'Ringledger', version: packageVersion, docs: `${basePath}/docs`, ops: `${basePath}/ops`, health: '/health/ready'
})

export function rootPage (basePath: string): string {
  const { docs, ops, health } = about(basePath)
  return html`
<p>The backend of a voice-calling product: assistants, leads, and a signed webhook after each call. Every change is an event;
every answer is read from what was projected of it.</p>
<ul>
<li>!${link(docs, 'API documentation')}: every route, with examples, to be tried in the browser</li>
<li>!${link(ops, 'Operation')}: projections, deliveries and charts, for operators</li>
<li>!${link(health, 'Health')}: whether this process is ready for requests</li>
</ul>`
}
