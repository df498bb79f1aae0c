/**
 * Bundles the library: its entry points as ES modules and as CommonJS, each with what they share in files of their own. So a class is the
 * same class whichever entry point it comes from, and requiring one does not load the others.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'

/** A file smaller than this would cost more to open than to load with others. */
const SMALL = 3000

/** Removes what rolldown's helpers import of Node where they do not use it: an entry point for browsers shares them. */
const WITHOUT_NODE = {
  name: 'without-node',
  renderChunk: (code) =>
    code.split('createRequire').length === 2
      ? code.replace('import { createRequire } from "node:module";\n', '')
      : undefined,
}

/** Builds `esm` and `cjs` in `dist`; those for browsers as ES modules alone. Entry points are files of `src` by name. */
export async function bundleLibrary(top, entries, browserEntries, dist) {
  await bundle(top, { ...entries, ...browserEntries }, { dir: join(dist, 'esm'), format: 'es' })
  await bundle(top, entries, {
    dir: join(dist, 'cjs'),
    format: 'cjs',
    define: { 'import.meta.url': '__filename' },
  })
}

async function bundle(top, entries, { dir, format, define }) {
  const made = await rolldown({
    cwd: top,
    platform: 'node',
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(top, 'src', file)])),
    transform: { target: 'node20.19', define },
    plugins: [WITHOUT_NODE],
    onLog(level, log, handle) {
      if (level !== 'info') handle('error', log)
    },
  })
  try {
    await made.write({
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
  } finally {
    await made.close()
  }
}

/** Removes declarations that no entry point's mention: those of everything that is behind them. */
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
