// Where the links of a page lead in the site.
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pageOf } from './sources.js'

export interface Links {
  /** Nothing for a file that is neither a page nor a picture. */
  hrefFrom (path: string): (href: string) => string | undefined
  /** What leads nowhere, in words. */
  broken: string[]
}

const isPicture = /\.(png|svg)$/

/** @param pages paths of the sources @param root of the repository */
export function linksBetween (pages: readonly string[], root: string): Links {
  const broken: string[] = []
  const hrefFrom = (path: string) => (href: string): string | undefined => {
    if (/^(https?:|mailto:|#)/.test(href)) return href
    const [file = '', anchor] = href.split('#')
    const target = posix.join(posix.dirname(path), file)
    const readme = posix.join(target, 'README.md')
    const found = [target, readme].find((each) => pages.includes(each))
    if (found === undefined) {
      const isThere = existsSync(join(root, target))
      if (!isThere) broken.push(`${path}: ${href}`)
      return isThere && isPicture.test(file) ? href : undefined
    }
    return posix.relative(posix.dirname(pageOf(path)), pageOf(found)) + (anchor === undefined ? '' : `#${anchor}`)
  }
  return { hrefFrom, broken }
}
