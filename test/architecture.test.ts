/** The layer table of docs/architecture.md: who may import whom. Change both in the same commit. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** A folder may import from itself and from folders with a smaller number. */
const LAYERS: Record<string, number> = {
  base: 0,
  sys: 0.5,
  model: 1,
  time: 1,
  wire: 2,
  pmns: 2,
  derive: 2,
  archive: 2.5,
  mmv: 2,
  'archive-store': 3,
  node: 3,
  net: 3,
  pmapi: 4,
  pmda: 4,
  agents: 5,
  series: 5,
  pmcd: 6,
  pmlogger: 6,
  pmie: 6,
  pmproxy: 6,
  tools: 7,
  start: 8,
  // The page may use what is pure, and nothing else.
  ui: 2.75,
}
/** Folders the browser uses: no node: module and no Buffer. */
const PURE = ['base', 'model', 'time', 'wire', 'pmns', 'derive', 'archive']
/** Packages that need no Node either. */
const PURE_PACKAGES = ['fzstd', 'js-lzma']
/** Folders whose sub-folders or files stand beside each other and never import one another. */
const SIBLINGS = ['agents', 'tools']

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  const found = text.matchAll(
    /^(?:import|export)\b[^;'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...found].map((match) => match[1] ?? match[2] ?? match[3]!)
}

/** Top folder of a source file, or '' for the entry points beside the folders. */
const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')
/** First two steps of a path: `agents/linux`, `tools/pminfo.ts`. */
const unitOf = (file: string): string => file.split('/').slice(0, 2).join('/').replace(/\.ts$/, '')

test('every folder has a layer', () => {
  const unknown = files.map(folderOf).filter((folder) => folder !== '' && !(folder in LAYERS))
  expect(unknown).toEqual([])
})

test('imports point down the layer table', () => {
  const wrong: string[] = []
  for (const file of files) {
    const from = folderOf(file)
    if (from === '') continue
    for (const target of importsOf(file)) {
      if (!target.startsWith('.')) continue
      const to = folderOf(normalize(join(dirname(file), target)))
      if (to !== from && !(LAYERS[to]! < LAYERS[from]!)) wrong.push(`${file} imports ${target}`)
    }
  }
  expect(wrong).toEqual([])
})

test('agents and tools never import their siblings', () => {
  const wrong: string[] = []
  for (const file of files) {
    const folder = folderOf(file)
    if (!SIBLINGS.includes(folder) || file.endsWith('/registry.ts')) continue
    for (const target of importsOf(file)) {
      if (!target.startsWith('.')) continue
      const to = normalize(join(dirname(file), target))
      const shared = unitOf(to) === `${folder}/lib` || unitOf(to) === `${folder}/registry`
      if (folderOf(to) === folder && unitOf(to) !== unitOf(file) && !shared)
        wrong.push(`${file} imports ${target}`)
    }
  }
  expect(wrong).toEqual([])
})

test('what the browser uses needs no Node', () => {
  const wrong: string[] = []
  for (const file of files) {
    if (!PURE.includes(folderOf(file))) continue
    for (const target of importsOf(file))
      if (!target.startsWith('.') && !PURE_PACKAGES.includes(target)) wrong.push(`${file} imports ${target}`)
    if (/\bBuffer\b/.test(readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
      wrong.push(`${file} uses Buffer`)
  }
  expect(wrong).toEqual([])
})

test('no file is longer than 600 lines, tables of data apart', () => {
  const isTable = (text: string): boolean => text.startsWith('/** Data:')
  const long = files.filter((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    return !isTable(text) && text.split('\n').length > 600
  })
  expect(long).toEqual([])
})
