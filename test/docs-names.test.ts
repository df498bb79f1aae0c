/** Names in docs, man pages and comments: pages and headings exist, variables are read, and every variable that is read is named. */
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
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesIn('docs', /\.md$/)].filter((page) =>
  existsSync(page),
)

/** The address that a heading has on a page. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

test('links between pages lead somewhere', () => {
  const broken = PAGES.flatMap((page) =>
    Array.from(textOf(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)).flatMap(
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

test('pages that texts and comments name exist', () => {
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

/** Variables of our own tests and of how our programs start each other. */
const PRIVATE = /^PCP_TS_|^PCPQA_|^PCP_REPORT_IN_BACKGROUND$/
const VARIABLE = /\b(?:PCP|PMCD|PMTIME|PMPROXY|PMIE|PMLOGGER|PMNS|PMDA|PROC|XFS|LINUX|KVM)_[A-Z0-9_]+\b/g
/** Names that look like variables and are not: constants, and scripts by the name of their settings. */
const OTHER =
  /^PMNS_(?:CHILD|IDS|NAMES|TRAVERSE)$|^PMCD_(?:(?:ADD|DROP|RESTART)_AGENT|\w+_CHANGE|WAIT)$|^(?:PMIE|PMLOGGER)_(?:CHECK|DAILY|MERGE|REWRITE)$/

/** A source without comments. */
const codeOf = (file: string): string =>
  textOf(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(?<!:)\/\/.*/g, '')

const isRead = new Set(
  SOURCES.flatMap((file) =>
    Array.from(codeOf(file).matchAll(/['"`]([A-Z][A-Z0-9]*_[A-Z0-9_]+)['"`]/g), ([, name]) => name!),
  ).filter((name) => name.match(VARIABLE)?.[0] === name && !PRIVATE.test(name) && !OTHER.test(name)),
)

test('every variable that is read is in the list of docs/environment.md', () => {
  const listed = new Set(textOf('docs/environment.md').match(VARIABLE))
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
  // Of these the option of the agent is the end of the name.
  const prefixes = SOURCES.flatMap((file) =>
    Array.from(codeOf(file).matchAll(/`(PCP_[A-Z]+_)\$\{/g), ([, name]) => name!),
  )
  const isUsed = (name: string): boolean =>
    used.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
  const named = new Set(texts.flatMap((text) => text.match(VARIABLE) ?? []))
  expect([...named].filter((name) => !isUsed(name) && !OTHER.test(name)).sort()).toEqual([])
})
