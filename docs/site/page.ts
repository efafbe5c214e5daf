// A page: header with search, menu, text.
import { posix } from 'node:path'
import { html } from 'ghtml'
import type { Rendered } from './render.js'
import { pageOf, type Source } from './sources.js'

/** Nothing is loaded from elsewhere, and nothing runs but the script of the search. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"

export function page (source: Source, { body, sections }: Rendered, sources: readonly Source[]): string {
  const root = posix.relative(posix.dirname(pageOf(source.path)), '.') || '.'
  const title = source.path === 'README.md' ? 'Ringledger' : `${source.title} · Ringledger`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${root}/style.css">
<script defer src="${root}/search-index.js"></script>
<script defer src="${root}/search.js"></script>
</head>
<body data-root="${root}">
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="home" href="${root}/index.html">Ringledger</a>
<a class="to-menu" href="#menu">Menu</a>
<form role="search" hidden><label for="query">Search</label>
<input id="query" type="search" autocomplete="off" placeholder="Search, or press /"></form>
</header>
<section id="found" aria-label="What was found" hidden><p role="status"></p><ol></ol></section>
<div class="page">
<main id="text" tabindex="-1">!${body}</main>
<nav id="menu" aria-label="Pages">!${menu(source, sections, sources, root)}</nav>
</div>
</body>
</html>
`
}

function menu (source: Source, sections: Rendered['sections'], sources: readonly Source[], root: string): string {
  const groups = [...new Set(sources.map(({ group }) => group))]
  const chapters = sections.filter(({ depth }) => depth === 2)
  const entry = ({ path, title }: Source) => path === source.path
    ? html`<li><a href="#text" aria-current="page">${title}</a><ul>!${chapters.map(({ anchor, words }) =>
        html`<li><a href="#${anchor}">${words}</a></li>`).join('')}</ul></li>`
    : html`<li><a href="${root}/${pageOf(path)}">${title}</a></li>`
  return groups.map((group) => {
    const entries = sources.filter((each) => each.group === group)
    const isOpen = entries.some(({ path }) => path === source.path) || entries.length <= 8
    return html`<details !${isOpen ? 'open' : ''}><summary>${group}</summary><ul>!${entries.map(entry).join('')}</ul></details>`
  }).join('\n')
}
