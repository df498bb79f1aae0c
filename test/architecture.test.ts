/** Checks the code against the layer table of docs/architecture.md. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))
const document = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8')

/** The layer table: a folder may import from itself and from folders with a smaller number. */
const rows = [...document.matchAll(/^\| `([a-z-]+)` \| ([0-9.]+) \| (pure|) *\|/gm)]
const LAYERS: Record<string, number> = Object.fromEntries(
  rows.map(([, folder, layer]) => [folder!, Number(layer)]),
)
/** Folders that the browser uses: they import only each other, no node: module and no Buffer. */
const PURE = rows.filter((row) => row[3] === 'pure').map((row) => row[1]!)
/** Packages that do not need Node. */
const PURE_PACKAGES = ['fzstd', 'js-lzma', 'preact', 'preact/hooks', '@preact/signals', 'uplot']
/** Folders whose entries are independent of each other and never import one another. */
const SIBLINGS = ['agents', 'tools']

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  const found = text.matchAll(
    /^(?:import|export)\b[^;'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...found].map((match) => match[1] ?? match[2] ?? match[3]!)
}

/** Returns the top folder of a source file, or '' for entry points beside the folders. */
const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')
/** Returns the first two parts of a path: `agents/linux`, `tools/pminfo.ts`. */
const unitOf = (file: string): string =>
  file
    .split('/')
    .slice(0, 2)
    .join('/')
    .replace(/\.tsx?$/, '')

test('the layer table lists every folder, and no other', () => {
  const folders = new Set(files.map(folderOf).filter((folder) => folder !== ''))
  expect(Object.keys(LAYERS).sort()).toEqual([...folders].sort())
})

test('the files named in the document exist', () => {
  const table = document.slice(document.indexOf('## One idea, one place'), document.indexOf('## Errors'))
  const named = [
    ...table.matchAll(/`([\w./-]+\.tsx?)`/g),
    ...document.matchAll(/ ([a-z-]+\/[\w./-]+\.ts)\b/g),
  ]
  const paths = named.map(([, path]) => path!.replace(/^src\//, ''))
  expect(paths.length).toBeGreaterThan(40)
  expect(paths.filter((path) => !files.includes(path))).toEqual([])
})

/** Returns the shortest cycle of imports through a file. */
function circleOf(start: string, graph: Map<string, string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const target of graph.get(file) ?? []) {
      if (target === start) {
        const circle = [start]
        for (let at = file; at !== start; at = cameFrom.get(at)!) circle.unshift(at)
        return [start, ...circle]
      }
      if (cameFrom.has(target)) continue
      cameFrom.set(target, file)
      queue.push(target)
    }
  }
  return undefined
}

test('no file imports itself indirectly, including types', () => {
  const graph = new Map(
    files.map((file) => {
      const targets = importsOf(file).filter((target) => target.startsWith('.'))
      return [file, targets.map((target) => normalize(join(dirname(file), target)))]
    }),
  )
  const circles = files.flatMap((file) => circleOf(file, graph)?.join(' > ') ?? [])
  expect(circles).toEqual([])
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

test('commands import no clock of the page, which would keep them running', () => {
  const wrong: string[] = []
  for (const first of files.filter((file) => folderOf(file) !== 'ui' && folderOf(file) !== '')) {
    const reached = new Set([first])
    for (const file of reached) {
      const whole = readFileSync(join(src, file), 'utf8')
      if (folderOf(file) === 'ui' && /\bsetInterval\(/.test(whole)) wrong.push(`${first}: ${file}`)
      const text = whole.replaceAll(/^import type [^;'"]*?from '[^']+'/gm, '')
      for (const target of importsOf(file)) {
        if (!target.startsWith('.') || !text.includes(`'${target}'`)) continue
        const to = normalize(join(dirname(file), target))
        // Within other folders, their own files are tried too.
        if (folderOf(to) === 'ui') reached.add(to)
      }
    }
  }
  expect(wrong).toEqual([])
})

test('code used in the browser does not need Node', () => {
  const wrong: string[] = []
  for (const file of files) {
    if (!PURE.includes(folderOf(file))) continue
    for (const target of importsOf(file)) {
      const isPure = target.startsWith('.')
        ? PURE.includes(folderOf(normalize(join(dirname(file), target))))
        : PURE_PACKAGES.includes(target)
      if (!isPure) wrong.push(`${file} imports ${target}`)
    }
    if (/\bBuffer\b/.test(readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
      wrong.push(`${file} uses Buffer`)
  }
  expect(wrong).toEqual([])
})

test('no file is longer than 600 lines, except data tables', () => {
  const isTable = (text: string): boolean => text.startsWith('/** Data:')
  const long = files.filter((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    return !isTable(text) && text.split('\n').length > 600
  })
  expect(long).toEqual([])
})

test('no code branches on the text of a message', () => {
  // Compares a message with PCP's text to see whether it adds anything.
  const allowed = ['tools/lib/open-error.ts']
  const branches = /\bmessage\.(?:includes|startsWith|endsWith|match)\(|\.test\([\w.]*\bmessage\)/
  const found = files.filter((file) => branches.test(readFileSync(join(src, file), 'utf8')))
  expect(found, 'errors have a code, and a reason where that is not enough').toEqual(allowed)
})
