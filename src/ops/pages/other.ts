// The smaller pages: how an action gets on, logging in, and what went wrong.
import { html } from 'ghtml'
import type { ActionReport } from '../../../projections/engine/actions.js'
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
