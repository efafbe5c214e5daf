// The frame of every page. A value in a template is escaped; only `!${…}` takes HTML, and only HTML that was made here.
import { html } from 'ghtml'
import { packageVersion } from '../../package-root.js'
import type { FastifyReply } from 'fastify'

export interface Frame {
  /** Where the pages are: BASE_PATH and `/ops`. */
  root: string
  title: string
  /** Of the session; absent where nobody is logged in by one. */
  csrf?: string | undefined
  /** Which entry of the navigation this is. */
  place?: 'overview' | 'deliveries' | 'endpoints'
  /** Told above the page, once. */
  notice?: string | undefined
  /** The page shows how something gets on: it loads itself anew every so many seconds. */
  liveSeconds?: number
}

const places = [
  ['overview', '', 'Overview'], ['deliveries', '/deliveries', 'Deliveries'], ['endpoints', '/endpoints', 'Endpoints']
] as const

/** A whole page. @param main HTML that was made here */
export function page (frame: Frame, main: string): string {
  const { root, title, csrf, notice, liveSeconds } = frame
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Ringledger</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/style.css?v=${packageVersion}">
<script src="${root}/live.js?v=${packageVersion}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><p class="brand"><a href="${root}">Ringledger</a> <small>${packageVersion}</small></p>
!${csrf === undefined ? '' : navigation(frame)}</header>
<main id="main" tabindex="-1" !${liveSeconds === undefined ? '' : html`data-live="${liveSeconds}"`}>
<h1>${title}</h1>
!${notice === undefined ? '' : html`<p class="notice" role="status">${notice}</p>`}
!${main}
</main>
</body>
</html>
`
}

const navigation = ({ root, place, csrf }: Frame) => html`
<nav aria-label="Pages"><ul>!${places.map(([name, path, label]) => html`
<li><a href="${root}${path}" !${name === place ? 'aria-current="page"' : ''}>${label}</a></li>`)}</ul></nav>
!${form(`${root}/logout`, csrf, html`<button class="plain">Log out</button>`)}`

/** A form that changes something. @param fields HTML that was made here */
export const form = (action: string, csrf: string | undefined, fields: string) => html`
<form method="post" action="${action}"><input type="hidden" name="csrf" value="${csrf}">!${fields}</form>`

/** A table that scrolls by itself where the screen is narrow. @param rows of cells, each HTML that was made here */
export function table (
  label: string, head: readonly string[], rows: readonly (readonly string[])[], none: string
): string {
  if (rows.length === 0) return html`<p class="none">${none}</p>`
  return html`
<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>!${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>!${rows.map((cells) => html`<tr>!${cells.map((cell) => html`<td>!${cell}</td>`)}</tr>`)}</tbody>
</table></div>`
}

/** Text of anywhere as HTML. */
export const text = (value: string | number | null | undefined) => html`${value ?? ''}`

export const link = (to: string, words: string) => html`<a href="${to}">${words}</a>`

/** A time as people read it, in UTC. */
export const time = (iso: string | null | undefined) =>
  iso == null ? '' : html`<time datetime="${iso}">${iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')}</time>`

/** A state in a colour that its word does not need. */
export const badge = (state: string, kind: 'good' | 'bad' | 'waiting' | 'plain') =>
  html`<span class="badge ${kind}">${state}</span>`

/** What a browser may do with a page: show it with our style and our one script, send its forms here, nothing else. */
const policy = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
  "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"
].join('; ')

/** Marks an answer as a page. */
export const asPage = (reply: FastifyReply): FastifyReply =>
  reply.header('content-security-policy', policy).type('text/html; charset=utf-8')

export const sendPage = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  asPage(reply).code(status).send(text)
