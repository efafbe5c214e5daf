// One projection: its generations, what can be done to it, and what it has parked.
import { html } from 'ghtml'
import type { GenerationStatus } from '../../../projections/engine/overview.js'
import type { ParkedStream } from '../../../projections/engine/parked.js'
import type { ProjectionStatus } from '../answers.js'
import { badge, form, link, table, text, time } from './layout.js'
import { lagOf, projectionState } from './overview.js'

export interface ProjectionPage {
  root: string
  csrf: string | undefined
  projection: ProjectionStatus
  parked: ParkedStream[]
}

/** More are on the command line. */
const mostParked = 50

const explained = [
  ['replay', 'Build the rows anew from the log beside the present ones, verify them, and swap.'],
  ['verify', 'Build it anew beside, compare all rows.'],
  ['rollback', 'Lead readers back to the generation before.'],
  ['drop', 'Drop the generations that readers no longer see.']
] as const

export function projectionPage (view: ProjectionPage): string {
  const { root, csrf, projection, parked } = view
  const { name, problem, generations, position, action } = projection
  return html`
<p>!${projectionState(projection)} !${text(lagOf(projection))} behind the log, at position !${text(position)}.</p>
!${problem === null ? '' : stopped(view, problem)}
!${action ? html`<p>!${link(`${root}/actions/${action.id}`, `A ${action.action} is running`)}: ${action.message}</p>` : ''}
!${generations.length === 0 ? '' : generationsOf(view)}
<h2>Parked events</h2>
!${parked.slice(0, mostParked).map((each) => parkedStream(root, csrf, each))}
!${parked.length === 0 ? html`<p class="none">Nothing is parked.</p>` : ''}
!${parked.length > mostParked
    ? html`<p>And ${parked.length - mostParked} more streams:
<code>ringledger projections quarantine list ${name}</code></p>`
    : ''}`
}

const generationsOf = ({ root, csrf, projection }: ProjectionPage) => html`
<h2>Generations</h2>
!${table('Generations', generationColumns, projection.generations.map(generationRow), 'None.')}
<h2>Actions</h2>
!${actionForms(root, csrf, projection)}`

const generationColumns = ['generation', 'state', 'code', 'position', 'updated', 'fed by', 'what to do']

const stopped = ({ root, csrf, projection: { name } }: ProjectionPage, problem: string) => html`
<div class="notice bad"><p>It stands still: ${problem}</p>
!${form(`${root}/projections/${name}/close-breaker`, csrf, html`<button>Let it go on, and park what it refuses</button>`)}</div>`

function generationRow (each: GenerationStatus): string[] {
  const { generation, state, code_version: code, present_version: present, position, owner, due } = each
  const { updated_at: updated } = each
  return [
    text(generation), badge(state, state === 'active' ? 'good' : 'plain'),
    text(code === present ? code : `${code} (this is ${present})`), text(position),
    updated === 'never' ? 'never' : time(updated), text(owner ?? 'nobody'), due === null ? '' : html`<code>${due}</code>`
  ]
}

function actionForms (root: string, csrf: string | undefined, { name, state }: ProjectionStatus): string {
  const to = (action: string) => `${root}/projections/${name}/${action}`
  const [pause, about] = state === 'paused'
    ? ['resume', 'Feed it again, where it stands.']
    : ['pause', 'Stop feeding it: readers see what they saw.']
  return html`<dl class="text">!${[...explained, [pause, about] as const].map(([action, words]) => html`
<div><dt>${words}</dt><dd>!${form(to(action), csrf, html`<button>${action}</button>`)}</dd></div>`)}</dl>`
}

function parkedStream (root: string, csrf: string | undefined, each: ParkedStream): string {
  const { projection, generation, stream, revision, events, type, error, since } = each
  const named = html`<input type="hidden" name="stream" value="${stream}"><input type="hidden" name="revision" value="${revision}">`
  const to = (action: string) => `${root}/projections/${projection}/${action}`
  return html`
<details>
<summary>${stream}@${revision}, ${type}: ${events} event${events === 1 ? '' : 's'} since
!${time(since)}!${generation === null ? '' : html` (generation ${generation})`}</summary>
<p class="notice bad">${error}</p>
<div class="actions">
!${form(to('retry'), csrf, html`!${named}<button>Retry the stream</button>`)}
<form class="row" method="post" action="${to('skip')}"><input type="hidden" name="csrf" value="${csrf}">!${named}
<div><label>Why this event is given up <input name="reason" required maxlength="200"></label></div>
<button>Skip this event for good</button></form>
</div>
</details>`
}
