// Markdown to HTML: headings get anchors, links lead to pages, and what is wide scrolls by itself.
import { Marked, type Token, type Tokens } from 'marked'
import { html } from 'ghtml'

export interface Heading { depth: number, words: string, anchor: string }

/** What stands below one heading, as text: it is what is found. */
export interface Section extends Heading { text: string }

export interface Rendered { body: string, sections: Section[] }

/** @param hrefOf where a link leads from this page; nothing for what is no page of the site */
export function render (text: string, hrefOf: (href: string) => string | undefined): Rendered {
  const sections: Section[] = []
  const anchors = anchorsOf()
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading ({ tokens, depth }) {
        const words = plain(tokens)
        const anchor = anchors(words)
        sections.push({ depth, words, anchor, text: '' })
        return `<h${depth} id="${anchor}"><a class="anchor" href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`
      },
      link ({ href, tokens }) {
        const words = this.parser.parseInline(tokens)
        const to = hrefOf(href)
        return to === undefined ? html`<span title="in the repository">!${words}</span>` : html`<a href="${to}">!${words}</a>`
      },
      code: ({ text, lang }) => html`<pre tabindex="0"><code data-language="${lang ?? ''}">${text}</code></pre>\n`,
      table (token) {
        const row = (cells: Tokens.TableCell[]) => `<tr>${cells.map((cell) => this.tablecell(cell)).join('')}</tr>`
        const [head, body] = [row(token.header), token.rows.map(row).join('\n')]
        return `<div class="wide" tabindex="0"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`
      },
      tablecell ({ tokens, header, align }) {
        const [tag, side] = [header && plain(tokens) !== '' ? 'th' : 'td', align === null ? '' : ` class="${align}"`]
        return `<${tag}${side}>${this.parser.parseInline(tokens)}</${tag}>`
      },
      html: () => '' // comments that mark what is generated
    }
  })
  const body = marked.parse(text, { async: false })
  return { body, sections: withTexts(sections, marked.lexer(text)) }
}

function withTexts (sections: readonly Section[], tokens: readonly Token[]): Section[] {
  const texts: string[] = []
  for (const token of tokens) {
    if (token.type === 'heading') texts.push('')
    else texts.push(`${texts.pop() ?? ''} ${plain([token])}`)
  }
  return sections.map((section, index) => ({ ...section, text: texts[index]?.trim().replace(/\s+/g, ' ') ?? '' }))
}

/** The words alone. */
function plain (tokens: readonly Token[]): string {
  return tokens.map((token): string => {
    if (token.type === 'table') return cellsOf(token as Tokens.Table).map(({ tokens: inner }) => plain(inner)).join(' ')
    if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens: inner }) => plain(inner)).join(' ')
    if ('tokens' in token && token.tokens) return plain(token.tokens)
    return token.type === 'html' ? '' : unescaped('text' in token ? token.text : token.type === 'space' ? ' ' : '')
  }).join('')
}

const cellsOf = ({ header, rows }: Tokens.Table) => [...header, ...rows.flat()]

const unescaped = (text: string) =>
  text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&amp;/g, '&')

/** As GitHub makes them, so that a link works there and here. */
function anchorsOf (): (words: string) => string {
  const used = new Map<string, number>()
  return (words) => {
    const anchor = words.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')
    const times = used.get(anchor) ?? 0
    used.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  }
}
