/**
 * Feeds the parsers of untrusted bytes with inputs that search for new paths: `npm run fuzz -- NAME --minutes N`, or `--all`. Bundles
 * test/fuzz first, because the engine reads V8's coverage of the bundled files. CONTRIBUTING.md: Fuzzing
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { install, top } from './lib/run.mjs'
import { bundleSources } from './lib/run-sources.mjs'

install()
process.chdir(top)
/** Lets the bundle find files beside a source. */
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
/** Replaces the entries of test/fuzz/entries.ts in tests of the engine. */
const table = process.env.FUZZ_ENTRIES && resolve(process.env.FUZZ_ENTRIES)
const otherTable = {
  name: 'other-table',
  setup: ({ onResolve }) => onResolve({ filter: /\/entries\.ts$/ }, () => table && { path: table }),
}
// A replay runs in this thread; an input that hangs would block signal handlers.
if (!process.argv.includes('--replay'))
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => process.exit(130))
const engine = ['test/fuzz/engine/main.ts', 'test/fuzz/engine/thread.ts']
const bundles = await bundleSources('fuzz', engine, [otherTable, ownUrls])
const { main } = await import(new URL('main.js', bundles).href)
process.exit(await main(process.argv.slice(2), bundles.href))
