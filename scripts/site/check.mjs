/** Checks the built site: links and their anchors lead somewhere, and nothing is loaded from another host. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Returns the problems, one a line. */
export function checkSite(dist, base) {
  const pages = new Map(
    readdirSync(dist, { recursive: true })
      .filter((path) => path.endsWith('.html'))
      .map((path) => [path.replaceAll('\\', '/'), readFileSync(join(dist, path), 'utf8')]),
  )
  const anchors = new Map([...pages].map(([path, html]) => [path, new Set(valuesOf(html, 'id'))]))
  const problems = []
  for (const [path, html] of pages) {
    for (const href of new Set(valuesOf(html, 'href'))) {
      if (/^(?:https?:|mailto:|data:)/.test(href)) continue
      const [to, anchor] = href.split('#')
      const target = to === '' ? path : fileOf(path, to, base)
      if (target === undefined || !existsSync(join(dist, target)))
        problems.push(`${path}: no page for ${href}`)
      else if (anchor && target.endsWith('.html') && !anchors.get(target)?.has(decodeURIComponent(anchor)))
        problems.push(`${path}: no heading for ${href}`)
    }
    for (const [tag] of html.matchAll(
      /<(?:link|script|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^>]*>/g,
    ))
      problems.push(`${path}: loads from another host: ${tag}`)
  }
  return problems
}

const valuesOf = (html, name) =>
  Array.from(html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g')), ([, value]) =>
    value.replaceAll('&amp;', '&'),
  )

/** Path below the site that a link of a page leads to; undefined outside the site. */
function fileOf(page, link, base) {
  const absolute = link.startsWith('/') ? link : posix.join(base, posix.dirname(page), link)
  if (!absolute.startsWith(base)) return undefined
  const path = decodeURIComponent(absolute.slice(base.length))
  return path === '' || path.endsWith('/') ? `${path}index.html` : path
}
