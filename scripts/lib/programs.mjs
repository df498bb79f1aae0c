/**
 * Bundles all programs of the package together, so that they share code. rolldown splits the code into chunks, one for each set of programs
 * that load it; as opening sixty files would make starts slow, chunks are grouped into packs that minimize the cost of all starts.
 * A pack is a script that evaluates to an object with a function for each chunk: nothing runs or is compiled before it is
 * required. src/tools/launch.ts loads packs. docs/decisions/start-up.md
 */
import { createHash } from 'node:crypto'
import { basename, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { bundledFiles } from './bundled.mjs'

/** Opening a pack costs as much as reading this many unneeded characters. */
const COST_OF_PACK = 20_000
const VIRTUAL = 'program:'

/**
 * Bundles programs, given by name as source text that imports from `src`. Returns the text of each pack by name, the chunk of each
 * program, `PACK/PIECE`, and the bundled files.
 */
export async function bundlePrograms(top, texts) {
  const src = join(top, 'src')
  const bundle = await rolldown({
    cwd: top,
    platform: 'node',
    // Output must not depend on where a linked node_modules is.
    resolve: { symlinks: false },
    input: Object.fromEntries(Object.keys(texts).map((name) => [name, `${VIRTUAL}${name}`])),
    // Without packs, the file would be in the same folder.
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
    return { ...packed(src, output), files: bundledFiles(output) }
  } finally {
    await bundle.close()
  }
}

function packed(src, output) {
  const pieces = new Map(output.map((chunk) => [chunk.fileName, chunk]))
  if (new Set(output.map(({ fileName }) => basename(fileName))).size < pieces.size)
    throw new Error('Two pieces of the programs have the same name')
  const packOf = new Map()
  const packs = new Map()
  for (const { files, users } of groups(pieces)) {
    const name = nameOf(src, files, users, pieces, packs)
    packs.set(name, files)
    for (const file of files) packOf.set(file, name)
  }
  const idOf = (file) => `${packOf.get(file)}/${basename(file, '.cjs')}`
  const textOf = (file) =>
    `${JSON.stringify(basename(file, '.cjs'))}:${asFunction(pieces.get(file).code, (other) => (pieces.has(other) ? idOf(other) : undefined))}`
  return {
    packs: new Map(
      [...packs].map(([name, files]) => [name, ascii(`"use strict";({${files.map(textOf).join(',\n')}})\n`)]),
    ),
    ids: new Map(output.filter(({ isEntry }) => isEntry).map(({ name, fileName }) => [name, idOf(fileName)])),
  }
}

/** Merges chunks into packs while that makes all starts cheaper: fewer packs to open, but more unneeded code. */
function groups(pieces) {
  const users = usersOf(pieces)
  let all = []
  for (const [file, { code }] of pieces) {
    const own = users.get(file)
    const same = all.find((group) => group.users.size === own.size && shared(group.users, own) === own.size)
    if (same === undefined) all.push({ files: [file], users: own, size: code.length })
    else {
      same.files.push(file)
      same.size += code.length
    }
  }
  const gain = (a, b) => {
    const both = shared(a.users, b.users)
    return COST_OF_PACK * both - b.size * (a.users.size - both) - a.size * (b.users.size - both)
  }
  for (;;) {
    let best = 0
    let pair
    for (let i = 0; i < all.length; i++)
      for (let j = 0; j < i; j++) {
        const found = gain(all[i], all[j])
        if (found > best) {
          best = found
          pair = [all[j], all[i]]
        }
      }
    if (pair === undefined) return all
    const [a, b] = pair
    all = all.filter((group) => group !== b)
    a.files.push(...b.files)
    a.users = new Set([...a.users, ...b.users])
    a.size += b.size
  }
}

function shared(a, b) {
  let count = 0
  for (const each of a) if (b.has(each)) count++
  return count
}

/** Names a pack after its only program, else after the folder that most of it is from. */
function nameOf(src, files, users, pieces, taken) {
  const [only, ...others] = users
  const base =
    others.length === 0
      ? basename(only, '.cjs')
      : folderOf(
          src,
          files.map((file) => pieces.get(file)),
        )
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`
    if (!taken.has(name)) return name
  }
}

/** Maps each chunk to the programs that load it when they start. A dynamically imported chunk counts as a program. */
function usersOf(pieces) {
  const users = new Map([...pieces.keys()].map((file) => [file, new Set()]))
  for (const { fileName, isEntry, isDynamicEntry } of pieces.values()) {
    if (!isEntry && !isDynamicEntry) continue
    const loaded = new Set([fileName])
    for (const file of loaded) {
      users.get(file).add(fileName)
      for (const other of pieces.get(file).imports) if (pieces.has(other)) loaded.add(other)
    }
  }
  return users
}

/** Returns the folder of src that most of the chunks are from; `packages` for npm packages. */
function folderOf(src, chunks) {
  const sizes = new Map()
  for (const { modules } of chunks)
    for (const [file, { renderedLength }] of Object.entries(modules)) {
      const [folder] = relative(src, file).split(sep)
      const name = folder === '..' ? 'packages' : folder
      sizes.set(name, (sizes.get(name) ?? 0) + renderedLength)
    }
  return [...sizes].sort(([, a], [, b]) => b - a)[0][0]
}

/** Wraps a chunk as a function of its exports, `require`, the path of its pack, and `import`. */
function asFunction(code, idOf) {
  const body = code
    .replaceAll(/\brequire\(["'`](\.[^"'`]+)["'`]\)/g, (call, path) => {
      const id = path.startsWith('./') ? idOf(path.slice(2)) : undefined
      if (id === undefined) throw new Error(`${call} names no piece of the programs`)
      return `require(${JSON.stringify(id)})`
    })
    // Exports are never reassigned, so values are exported instead of slower getters.
    .replaceAll(
      /Object\.defineProperty\(exports,["'`](\w+)["'`],\{enumerable:!0,get:function\(\)\{return (\w+|\$+)\}\}\)/g,
      (_, name, value) => `exports.${name}=${value}`,
    )
    .replaceAll(/(?<![.\w$])import\(/g, '__import(')
  return `function(exports,require,__filename,__dirname,__import){${body}\n}`
}

/** Escapes text as ASCII, which needs no decoding. */
function ascii(text) {
  return text.replaceAll(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns a hash of a pack's content. */
export function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Returns the file name of a pack. */
export function packFile(name) {
  return `${name}.pack.js`
}
