/**
 * Bundles the library: its entry points as ES modules and as CommonJS, with shared code in separate files. So a class is the
 * same class in every entry point, and requiring one entry point does not load the others.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { bundledFiles } from './bundled.mjs'

/** Opening a file smaller than this costs more than loading it with others. */
const SMALL = 800

/** Removes unused imports of Node modules from rolldown's helpers, which entry points for browsers share. */
const WITHOUT_NODE = {
  name: 'without-node',
  renderChunk: (code) =>
    code.split('createRequire').length === 2
      ? code.replace('import { createRequire } from "node:module";\n', '')
      : undefined,
}

/**
 * Builds `esm` and `cjs` in `dist`; entry points for browsers as ES modules only. Entry points are files of `src` by name. Returns the
 * bundled files.
 */
export async function bundleLibrary(top, entries, browserEntries, dist) {
  const esm = await bundle(top, { ...entries, ...browserEntries }, { dir: join(dist, 'esm'), format: 'es' })
  const cjs = await bundle(top, entries, {
    dir: join(dist, 'cjs'),
    format: 'cjs',
    define: { 'import.meta.url': '__filename' },
  })
  return [...esm, ...cjs]
}

async function bundle(top, entries, { dir, format, define }) {
  const made = await rolldown({
    cwd: top,
    platform: 'node',
    // Output must not depend on where a linked node_modules is.
    resolve: { symlinks: false },
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(top, 'src', file)])),
    transform: { target: 'node20.19', define },
    plugins: [WITHOUT_NODE],
    onLog(level, log, handle) {
      if (level !== 'info') handle('error', log)
    },
  })
  try {
    const { output } = await made.write({
      dir,
      format,
      // Users see class names in errors and in the console.
      keepNames: true,
      minify: false,
      comments: false,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunk-[hash].js',
      codeSplitting: {
        groups: [{ name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: SMALL }],
      },
    })
    return bundledFiles(output)
  } finally {
    await made.close()
  }
}

/** Removes declarations that no entry point reaches. */
export function keepDeclarations(dir, entries) {
  const kept = new Set(entries.map((file) => join(dir, file.replace(/\.ts$/, '.d.ts'))))
  for (const file of kept)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import\(|import )["'](\.[^"']+)["']/g,
    ))
      kept.add(join(dirname(file), path.replace(/\.ts$/, '.d.ts')))
  for (const name of readdirSync(dir, { recursive: true })) {
    const file = join(dir, name)
    if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(file)
  }
}
