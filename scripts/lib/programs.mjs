/**
 * Bundles all programs of the package together, so that what they share is there once. rolldown cuts the code into pieces, one for each
 * set of programs that load it; a start that had to open sixty files would be slow, so pieces stand together in packs:
 *
 *     base      what nearly every program loads      AREA     what programs of an area share: archive, tools, pmcd, ...
 *     core      what many load                       PROGRAM  what it has for itself, or what is loaded on demand
 *
 * A pack is a script whose value is an object of functions, one for each piece: nothing runs, or is compiled, before it is required.
 * src/tools/launch.ts loads them. docs/decisions/start-up.md
 */
import { createHash } from 'node:crypto'
import { basename, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

/** A piece loaded by this share of all programs belongs to `base`. */
const BASE_SHARE = 0.5
/** A piece loaded by so many programs belongs to `core`. */
const CORE_PROGRAMS = 12
/** Folders of src whose shared pieces stand apart from the core, and the pack they are in; folders of `tools/lib` have packs of their own. */
const AREAS = {
  archive: 'archive',
  'archive-store': 'archive',
  tools: 'tools',
  pmda: 'agents',
  agents: 'agents',
  mmv: 'agents',
  pmcd: 'pmcd',
  pmlogger: 'pmlogger',
  pmie: 'pmie',
  pmproxy: 'pmproxy',
  start: 'start',
}

/** What several commands share. */
const COMMANDS = 'tools/lib/'
const VIRTUAL = 'program:'

/**
 * Bundles programs, given as text by name that imports from `src`. Returns the text of each pack by its name, and the name of each
 * program's own piece: `PACK/PIECE`.
 */
export async function bundlePrograms(top, texts) {
  const src = join(top, 'src')
  const bundle = await rolldown({
    cwd: top,
    platform: 'node',
    input: Object.fromEntries(Object.keys(texts).map((name) => [name, `${VIRTUAL}${name}`])),
    // Where a file would be if it were not in a pack: beside the packs.
    transform: { target: 'node20.19', define: { 'import.meta.url': '__filename' } },
    preserveEntrySignatures: 'allow-extension',
    plugins: [
      {
        name: 'programs',
        resolveId(id, importer) {
          if (id.startsWith(VIRTUAL)) return id
          return importer?.startsWith(VIRTUAL) ? join(src, id) : undefined
        },
        load: (id) => (id.startsWith(VIRTUAL) ? texts[id.slice(VIRTUAL.length)] : undefined),
      },
    ],
    onLog(level, log, handle) {
      if (level !== 'info') handle('error', log)
    },
  })
  try {
    const { output } = await bundle.generate({
      format: 'cjs',
      minify: true,
      comments: false,
      esModule: false,
      strict: false,
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name].cjs',
    })
    return packed(src, output)
  } finally {
    await bundle.close()
  }
}

function packed(src, output) {
  const pieces = new Map(output.map((chunk) => [chunk.fileName, chunk]))
  const programs = output.filter(({ isEntry, isDynamicEntry }) => isEntry || isDynamicEntry)
  const users = usersOf(pieces, programs)
  const packOf = new Map(
    output.map((chunk) => [chunk.fileName, packFor(src, chunk, users.get(chunk.fileName), programs.length)]),
  )
  const idOf = (file) => `${packOf.get(file)}/${basename(file, '.cjs')}`
  const packs = new Map()
  for (const { fileName, code } of output) {
    const text = asFunction(code, (file) => (pieces.has(file) ? idOf(file) : undefined))
    const pack = packOf.get(fileName)
    packs.set(pack, [...(packs.get(pack) ?? []), `${JSON.stringify(basename(fileName, '.cjs'))}:${text}`])
  }
  return {
    packs: new Map(
      [...packs].map(([name, texts]) => [name, ascii(`"use strict";({${texts.join(',\n')}})\n`)]),
    ),
    ids: new Map(output.filter(({ isEntry }) => isEntry).map(({ name, fileName }) => [name, idOf(fileName)])),
  }
}

/** The programs that load each piece at once. */
function usersOf(pieces, programs) {
  const users = new Map([...pieces.keys()].map((file) => [file, []]))
  for (const program of programs) {
    const loaded = new Set([program.fileName])
    for (const file of loaded) {
      users.get(file).push(program)
      for (const other of pieces.get(file).imports) if (pieces.has(other)) loaded.add(other)
    }
  }
  return users
}

function packFor(src, chunk, users, total) {
  // What a program has for itself, together with what it alone loads on demand.
  const entries = users.filter(({ isEntry }) => isEntry)
  const owner = users.length === 1 ? users[0] : entries.length === 1 ? entries[0] : undefined
  if (owner !== undefined) return basename(owner.fileName, '.cjs')
  const folder = folderOf(src, chunk)
  const area = folder.startsWith(COMMANDS) ? folder.slice(COMMANDS.length) : AREAS[folder]
  // Commands share much with agents and recorders; what is about archives only those load that read some.
  if (area !== undefined && (area !== 'tools' || users.length < CORE_PROGRAMS)) return area
  if (users.length >= total * BASE_SHARE) return 'base'
  return 'core'
}

/** The folder of src that most of a piece is from. */
function folderOf(src, { modules }) {
  const sizes = new Map()
  for (const [file, { renderedLength }] of Object.entries(modules)) {
    const [top, ...below] = relative(src, file).split(sep)
    const folder = top === 'tools' && below.length === 3 ? `${COMMANDS}${below[1]}` : top
    sizes.set(folder, (sizes.get(folder) ?? 0) + renderedLength)
  }
  return [...sizes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}

/** A piece as a function of its exports, the pieces and modules it requires, and the path of its pack. */
function asFunction(code, idOf) {
  const body = code
    .replaceAll(/\brequire\(["'`]\.\/([^"'`]+)["'`]\)/g, (call, file) => {
      const id = idOf(file)
      return id === undefined ? call : `require(${JSON.stringify(id)})`
    })
    // Nothing of ours is exported and assigned to again: a value is found faster than what returns it.
    .replaceAll(
      /Object\.defineProperty\(exports,["'`](\w+)["'`],\{enumerable:!0,get:function\(\)\{return (\w+|\$+)\}\}\)/g,
      (_, name, value) => `exports.${name}=${value}`,
    )
  return `function(exports,require,__filename,__dirname){${body}\n}`
}

/** Text in ASCII, which is read without being decoded. */
function ascii(text) {
  return text.replaceAll(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Stands for the content of a pack. */
export function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The file of a pack. */
export function packFile(name) {
  return `${name}.pack.js`
}
