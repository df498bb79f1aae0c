/** The pages that VitePress reads (site/pages): those of docs and of the checkout's top, and those that are generated. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { top } from '../lib/run.mjs'
import { pagesIn } from './contents.mjs'

/** Pages of the checkout outside docs, with their path on the site but for its extension. */
const OUTSIDE = {
  'CONTRIBUTING.md': 'developing/contributing',
  'SECURITY.md': 'developing/security-policy',
  'CHANGELOG.md': 'developing/changelog',
}

export const staged = join(top, 'site', 'pages')

/** Where a file of the checkout is on the site; undefined if it is not. */
function placeOf(path) {
  if (path === 'README.md') return 'index.md'
  if (path in OUTSIDE) return `${OUTSIDE[path]}.md`
  return path.startsWith('docs/') ? path.slice('docs/'.length) : undefined
}

/** Links of a page as the site has them: to files that it does not have, their path in the repository. */
function relink(text, from, to) {
  return outsideCode(text, (line) =>
    line.replace(
      /(?<!!)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s:#]+)(#[^)\s]*)?\)/g,
      (link, words, target, anchor = '') => {
        const path = normalize(join(dirname(from), target)).replace(/\/$/, '')
        const place = placeOf(path)
        if (place !== undefined && /\.(?:md|png|webp|json)$|^[^.]+$/.test(place))
          return `[${words}](${relative(dirname(to), place) || '.'}${anchor})`
        if (!existsSync(join(top, path))) return link
        return words.includes(path) ? words : `${words} (\`${path}\`)`
      },
    ),
  )
}

/** Applies `change` to the lines of a page outside its code blocks. */
function outsideCode(text, change) {
  let isCode = false
  return text
    .split('\n')
    .map((line) => {
      if (/^\s*```/.test(line)) isCode = !isCode
      return isCode || line.startsWith('    ') ? line : change(line)
    })
    .join('\n')
}

/** Links the first mention of each command in inline code to its page. `commands` has their names. */
function linkCommands(text, path, commands) {
  const left = new Set(commands)
  return outsideCode(text, (line) =>
    /^(?:#|<!--)/.test(line)
      ? line
      : line.replace(/(?<![[`])`([\w.-]+)`(?![\]`])/g, (code, name) =>
          left.delete(name) ? `[${code}](${relative(dirname(path), `reference/commands/${name}.md`)})` : code,
        ),
  )
}

/** Writes a page unless it is there already: the preview reloads only what changed. */
function write(path, text) {
  const file = join(staged, path)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Writes all pages. `generated` has the text of those besides docs, by path without extension. */
export function stage(generated) {
  const docs = join(top, 'docs')
  const pages = new Map([...generated].map(([path, text]) => [`${path}.md`, text]))
  const commands = [...pages.keys()].flatMap(
    (path) => /^reference\/commands\/(.+)\.md$/.exec(path)?.[1] ?? [],
  )
  for (const path of pagesIn(docs)) {
    const text = relink(readFileSync(join(docs, path), 'utf8'), `docs/${path}`, path)
    pages.set(path, linkCommands(text, path, commands))
  }
  for (const from of Object.keys(OUTSIDE)) {
    const to = placeOf(from)
    pages.set(to, relink(readFileSync(join(top, from), 'utf8'), from, to))
  }
  for (const [path, text] of pages) write(path, withoutMarks(text))
  for (const path of pagesIn(staged)) if (!pages.has(path)) rmSync(join(staged, path))
  for (const name of ['pictures'])
    if (existsSync(join(docs, name))) cpSync(join(docs, name), join(staged, name), { recursive: true })
}

/** Drops the marks that tests read (test/lib/shell-blocks.ts), and shows what `<!-- site: TEXT -->` hides from readers of the Markdown. */
const withoutMarks = (text) =>
  text
    .replace(/^<!-- (?:needs|serves after|file|Ctrl-C after)\b.*-->\n/gm, '')
    .replace(/^<!-- site: (.*) -->$/gm, '$1')
