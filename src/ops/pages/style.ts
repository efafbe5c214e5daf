// The style of the pages: light or dark as the system is, one column on a phone.
export const style = `
:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1c2024; --soft: #5b6470; --line: #d5d9de; --card: #f5f6f8; --link: #0b57a4;
  --good: #12693a; --good-back: #dff3e6; --bad: #a11b1b;
  --bad-back: #fbe3e3; --waiting: #7a4d00; --waiting-back: #fdefd3;
  --one: #1f77b4; --two: #d62728; --three: #b07a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --text: #e6e8ea; --soft: #a3abb5; --line: #343a41; --card: #1d2125; --link: #7ab8f5;
    --good: #7fdba4; --good-back: #12351f; --bad: #ff9d9d;
    --bad-back: #431919; --waiting: #f4c56e; --waiting-back: #3d2c08;
    --one: #6cb4ee; --two: #ff8a80; --three: #e8b84a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
header, main { max-width: 76rem; margin: 0 auto; padding: .75rem 1rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; border-bottom: 1px solid var(--line); }
header form { margin-left: auto; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0; padding: 0; }
a { color: var(--link); }
.brand { margin: 0; font-weight: 600; }
.brand a { color: inherit; text-decoration: none; }
small, .soft { color: var(--soft); }
a[aria-current] { color: inherit; font-weight: 600; text-decoration-thickness: 2px; }
h1 { font-size: 1.6rem; margin: .75rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; z-index: 1; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; } main:focus { outline: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; white-space: nowrap; } td time { white-space: nowrap; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .75rem; margin: 0; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
dt { color: var(--soft); font-size: .875rem; } dd { margin: 0; font-size: 1.25rem; overflow-wrap: anywhere; }
dl.text { grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); } dl.text dd { font-size: 1rem; }
.badge {
  display: inline-block; padding: 0 .5rem; border-radius: 1rem; background: var(--card);
  border: 1px solid var(--line); white-space: nowrap
}
.badge.good { color: var(--good); background: var(--good-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.badge.waiting { color: var(--waiting); background: var(--waiting-back); }
.notice {
  border-left: 4px solid var(--link); background: var(--card); padding: .5rem .75rem; overflow-wrap: anywhere;
  white-space: pre-wrap
}
.notice.bad { border-color: var(--bad); }
form { margin: 0; } form.row, .actions { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; }
label { display: block; color: var(--soft); font-size: .875rem; }
input, select, button {
  font: inherit; color: inherit; background: var(--back); border: 1px solid var(--soft);
  border-radius: .375rem; padding: .375rem .625rem; max-width: 100%
}
#token { width: 100%; }
button { background: var(--card); cursor: pointer; min-height: 2.5rem; } button.plain { border-color: var(--line); }
pre {
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem;
  overflow-x: auto; max-height: 30rem
}
progress { width: 100%; max-width: 30rem; height: 1rem; }
figure { margin: 0 0 1.5rem; } figcaption { color: var(--soft); }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--soft); font-size: 11px; }
@media (max-width: 40rem) { svg text { font-size: 22px; } } /* a phone shows the view box at half its size */
.one { fill: var(--one); } .two { fill: var(--two); } .three { fill: var(--three); } .grid { stroke: var(--line); }
path.one { fill: none; stroke: var(--one); stroke-width: 2; }
path.two { fill: none; stroke: var(--two); stroke-width: 2; }
.key { display: inline-block; width: .75rem; height: .75rem; border-radius: .15rem; margin: 0 .25rem 0 .75rem; }
.key.one { background: var(--one); } .key.two { background: var(--two); } .key.three { background: var(--three); }
details { margin: .25rem 0; } .none { color: var(--soft); }
@media (prefers-reduced-motion: no-preference) { progress { transition: none; } }
`

/** Loads the content of a page anew while something gets on. Without it the page is the same, and stands still. */
export const live = `
const main = document.querySelector('main[data-live]')
const isBusy = () => document.hidden || document.querySelector('main details[open], main :is(input, select, button):focus')
const next = () => setTimeout(refresh, Number(main.dataset.live) * 1000)
async function refresh () {
  try {
    if (isBusy()) return
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    if (!answer.ok) return
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main')
    if (isBusy() || !fresh) return
    main.replaceChildren(...fresh.childNodes)
    if (fresh.dataset.live) main.dataset.live = fresh.dataset.live
    else delete main.dataset.live
  } finally {
    if (main.dataset.live) next()
  }
}
if (main) next()
`
