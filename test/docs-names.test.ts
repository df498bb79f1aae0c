/** Names in docs, man pages and comments: pages and headings exist, variables are read, and all variables read are documented. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { manPage } from '../src/tools/lib/man.ts'
import { TOOLS } from '../src/tools/registry.ts'

const filesIn = (dir: string, pattern: RegExp): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => pattern.test(file))
    .map((file) => join(dir, file))
const textOf = (file: string): string => readFileSync(file, 'utf8')

const SOURCES = filesIn('src', /\.tsx?$/)
/** A page without the lines that only the site shows, whose links the build of the site checks. */
const pageOf = (file: string): string => textOf(file).replace(/^<!-- site: .*-->$/gm, '')
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesIn('docs', /\.md$/)].filter((page) =>
  existsSync(page),
)

/** Returns the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

test('links between pages have targets', () => {
  const broken = PAGES.flatMap((page) =>
    Array.from(pageOf(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)).flatMap(
      ([link, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(target)) return [`${page}: ${link}`]
        if (anchor === undefined || !target.endsWith('.md')) return []
        const headings = Array.from(textOf(target).matchAll(/^#+ (.*)$/gm), ([, text]) => anchorOf(text!))
        return headings.includes(anchor) ? [] : [`${page}: ${link}`]
      },
    ),
  )
  expect(broken).toEqual([])
})

test('the index page of each section links to every page of the section', async () => {
  const script = new URL('../scripts/site/contents.mjs', import.meta.url).href
  const { contentsOf } = (await import(script)) as {
    contentsOf: (dir: string) => { nav: { text: string }[]; sidebar: Record<string, unknown> }
  }
  const { nav, sidebar } = contentsOf('docs')
  expect(nav.map(({ text }) => text)).toEqual(['Start', 'How to', 'Reference', 'Explanation', 'Developing'])
  expect(Object.keys(sidebar)).toContain('/how-to/')
})

test('pages named in texts and comments exist', () => {
  const files = [
    ...SOURCES,
    ...PAGES,
    ...filesIn('test', /\.ts$/).filter((file) => !/vectors|fixtures|fuzz|pmda-new/.test(file)),
    ...filesIn('scripts', /\.mjs$/),
  ]
  const missing = files.flatMap((file) =>
    Array.from(
      textOf(file).matchAll(/(?<![\w$}*/.-])((?:\.\.?\/)*[\w-]+(?:\/[\w-]+)*\.md)\b(?!['`]?,? *['"]?\w*\))/g),
    )
      .map(([, name]) => name!)
      .filter((name) => name.includes('/') || /^docs|`[\w-]+\.md`/.test(name))
      .filter((name) => ![dirname(file), '.', 'docs'].some((base) => existsSync(join(base, name))))
      .map((name) => `${file}: ${name}`),
  )
  expect([...new Set(missing)]).toEqual([])
})

/** Variables internal to our tests and to processes starting each other. */
const PRIVATE = /^PCP_TS_|^PCPQA_|^PCP_REPORT_IN_BACKGROUND$/
const VARIABLE = /\b(?:PCP|PMCD|PMTIME|PMPROXY|PMIE|PMLOGGER|PMNS|PMDA|PROC|XFS|LINUX|KVM)_[A-Z0-9_]+\b/g
/** Names that look like variables but are constants, codes of warnings or scripts. */
const OTHER =
  /^PCP_DEP\d{4}$|^PMNS_(?:CHILD|IDS|NAMES|TRAVERSE)$|^PMCD_(?:(?:ADD|DROP|RESTART)_AGENT|\w+_CHANGE|WAIT)$|^(?:PMIE|PMLOGGER)_(?:CHECK|DAILY|MERGE|REWRITE)$/

/** Returns a source without comments. */
const codeOf = (file: string): string =>
  textOf(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(?<!:)\/\/.*/g, '')

const isRead = new Set(
  SOURCES.flatMap((file) =>
    Array.from(codeOf(file).matchAll(/['"`]([A-Z][A-Z0-9]*_[A-Z0-9_]+)['"`]/g), ([, name]) => name!),
  ).filter((name) => name.match(VARIABLE)?.[0] === name && !PRIVATE.test(name) && !OTHER.test(name)),
)

test('every variable that is read is in the list of docs/reference/environment.md', () => {
  const listed = new Set(textOf('docs/reference/environment.md').match(VARIABLE))
  expect([...isRead].filter((name) => !listed.has(name)).sort()).toEqual([])
})

test('every variable that docs and man pages name is read', async () => {
  const tools = await Promise.all(TOOLS.map(({ load }) => load()))
  const manPages = tools.map((tool) => manPage(tool, new Set()))
  const texts = [...PAGES.map(textOf), ...manPages]
  const used = new Set(
    [...SOURCES, ...filesIn('share', /./).filter((file) => /rc_|\.(?:service|conf|sh)$/.test(file))].flatMap(
      (file) => textOf(file).match(VARIABLE) ?? [],
    ),
  )
  for (const file of [...filesIn('scripts', /\.mjs$/), ...filesIn('test', /\.ts$/)])
    for (const name of textOf(file).match(VARIABLE) ?? []) if (PRIVATE.test(name)) used.add(name)
  // Of these, the agent's option is the end of the name.
  const prefixes = SOURCES.flatMap((file) =>
    Array.from(codeOf(file).matchAll(/`(PCP_[A-Z]+_)\$\{/g), ([, name]) => name!),
  )
  const isUsed = (name: string): boolean =>
    used.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
  const named = new Set(texts.flatMap((text) => text.match(VARIABLE) ?? []))
  expect([...named].filter((name) => !isUsed(name) && !OTHER.test(name)).sort()).toEqual([])
})
