/** The sections of the site with their sidebars, from the index page of each section. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'

/** Sections in the order of the navigation; the first folder of each has its index page. */
export const SECTIONS = [
  { title: 'Start', folders: ['start'] },
  { title: 'How to', folders: ['how-to'] },
  { title: 'Reference', folders: ['reference', 'formats'] },
  { title: 'Explanation', folders: ['explanation'] },
  { title: 'Developing', folders: ['developing', 'decisions'], files: ['architecture.md'] },
]

/** A section of so few pages has no groups. */
const FEW = 3

/** The first heading of a page, without markup. */
export function titleOf(text, path) {
  const title = /^# (.+)$/m.exec(text)?.[1]
  if (title === undefined) throw new Error(`${path} has no heading`)
  return title.replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

/** Paths of all pages below `dir`. */
export function pagesIn(dir) {
  return readdirSync(dir, { recursive: true })
    .filter((path) => path.endsWith('.md'))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}

/**
 * Returns navigation and sidebars for the pages below `dir`. A sidebar has the pages that the section's index page links to, in
 * that order and under those words (the page's title where the words are a file name), grouped by its second-level headings.
 * Throws if a page is in no sidebar.
 */
export function contentsOf(dir) {
  const listed = new Set(['index.md'])
  const nav = []
  const sidebar = {}
  for (const { title, folders, files = [] } of SECTIONS) {
    const index = `${folders[0]}/index.md`
    if (!existsSync(join(dir, index)))
      throw new Error(`docs/${index} is missing: it lists the pages of "${title}"`)
    const isOfSection = (path) =>
      files.includes(path) || folders.some((folder) => path.startsWith(`${folder}/`))
    listed.add(index)
    const groups = groupsOf(dir, index, (path) => isOfSection(path) && !listed.has(path) && listed.add(path))
    const pages = groups.flatMap((group) => group.items ?? [group])
    const items = [{ text: title, link: linkTo(index) }, ...(pages.length > FEW ? groups : pages)]
    nav.push({
      text: title,
      link: linkTo(index),
      activeMatch: `^/(?:${[...folders, ...files.map((file) => file.replace('.md', ''))].join('|')})(?:/|\\.html|$)`,
    })
    for (const folder of folders) sidebar[`/${folder}/`] = items
    for (const file of files) sidebar[`/${file.replace('.md', '')}`] = items
  }
  const missing = pagesIn(dir).filter((path) => !listed.has(path))
  if (missing.length > 0)
    throw new Error(
      `In no sidebar, as the index page of their section has no link to them: ${missing.join(', ')}`,
    )
  return { nav, sidebar }
}

/** The links of an index page that `isTaken`, by heading. A folder's own index page is the head of a closed group with its pages. */
function groupsOf(dir, index, isTaken) {
  const groups = []
  let items = groups
  for (const line of readFileSync(join(dir, index), 'utf8').split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1]
    if (heading !== undefined) {
      items = []
      groups.push({ text: heading.replace(/`/g, ''), items })
    }
    for (const [, words, to] of line.matchAll(/\[([^\]]*)\]\(([^)#\s:]+\.md)\)/g)) {
      const path = normalize(join(dirname(index), to))
      if (!existsSync(join(dir, path)) || !isTaken(path)) continue
      const text = words.endsWith('.md')
        ? titleOf(readFileSync(join(dir, path), 'utf8'), path)
        : words.replace(/`/g, '')
      const isFolder = basename(path) === 'index.md'
      items.push({
        text,
        link: linkTo(path),
        ...(isFolder && { collapsed: true, items: groupsOf(dir, path, isTaken) }),
      })
    }
  }
  return groups.filter((group) => group.items === undefined || group.items.length > 0)
}

const linkTo = (path) => `/${path.replace(/(?:^|(?<=\/))index\.md$/, '').replace(/\.md$/, '')}`
