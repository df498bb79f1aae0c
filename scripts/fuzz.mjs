/**
 * Feeds the parsers of outside bytes with inputs that look for new paths: `npm run fuzz -- NAME --minutes N`, or `--all`. Bundles test/fuzz
 * first, as the engine reads V8's coverage of the bundled files. CONTRIBUTING.md: Fuzzing
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { install, top } from './lib/run.mjs'

install()
process.chdir(top)
const { build } = await import('esbuild')
/** Files beside a source are found from the bundle too. */
const ownUrls = {
  name: 'own-urls',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: 'ts',
    })),
}
/** Other entries than those of test/fuzz/entries.ts, for tests of the engine. */
const table = process.env.FUZZ_ENTRIES && resolve(process.env.FUZZ_ENTRIES)
const otherTable = {
  name: 'other-table',
  setup: ({ onResolve }) => onResolve({ filter: /\/entries\.ts$/ }, () => table && { path: table }),
}
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'pcp-ts-fuzz-')))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
// A replay runs in this thread: an input that hangs would keep it from handling signals.
if (!process.argv.includes('--replay'))
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => process.exit(130))
await build({
  absWorkingDir: top,
  entryPoints: ['test/fuzz/engine/main.ts', 'test/fuzz/engine/thread.ts'],
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['koffi'],
  // Packages in CommonJS require modules of Node's.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  plugins: [otherTable, ownUrls],
  outdir: dir,
  logLevel: 'warning',
})
writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
const { main } = await import(pathToFileURL(join(dir, 'main.js')).href)
process.exit(await main(process.argv.slice(2), pathToFileURL(`${dir}/`).href))
