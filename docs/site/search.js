/* global document, window, location, ringledgerDocs */
// The search of the site, in the reader's browser: the index was made with the pages.
import MiniSearch from 'minisearch'

const most = 12
const { options, index } = ringledgerDocs
const search = MiniSearch.loadJS(index, options)
const root = document.body.dataset.root
const form = document.querySelector('form[role=search]')
const query = document.querySelector('#query')
const found = document.querySelector('#found')
const status = found.querySelector('[role=status]')
const list = found.querySelector('ol')

form.hidden = false
form.addEventListener('submit', (event) => {
  event.preventDefault()
  list.querySelector('a')?.click()
})
query.addEventListener('input', show)
window.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== query) {
    event.preventDefault()
    query.focus()
  }
  if (event.key === 'Escape') close()
})
list.addEventListener('click', (event) => { if (event.target.closest('a')) close() })
if (location.hash.length > 1) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView()

function show () {
  const words = query.value.trim()
  if (words === '') return close()
  const results = search.search(words, { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { words: 4, title: 2 } })
  list.replaceChildren(...results.slice(0, most).map(entry))
  const all = results.length === 1 ? 'One section' : `${results.length} sections`
  status.textContent = results.length === 0 ? 'Nothing was found.' : results.length > most ? `${all}, the best ${most}:` : `${all}:`
  found.hidden = false
}

function entry ({ words, title, href, text }) {
  const link = document.createElement('a')
  link.href = `${root}/${href}`
  link.textContent = words
  const where = document.createElement('span')
  where.textContent = words === title ? '' : title
  const excerpt = document.createElement('p')
  excerpt.textContent = text
  const item = document.createElement('li')
  item.append(link, ' ', where, excerpt)
  return item
}

function close () {
  found.hidden = true
  list.replaceChildren()
}
