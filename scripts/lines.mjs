/**
 * Runs made-up command lines here and in the reference: `npm run lines -- [--seed N] [--count N] [--tool NAME]`. Bundles the search first, as
 * it reads option tables from the sources. CONTRIBUTING.md: Made-up command lines
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { alone, buildIfChanged, top } from './lib/run.mjs'

alone('lines', () => buildIfChanged())
process.chdir(top)
delete process.env.NODE_EXTRA_CA_CERTS
const { build } = await import('esbuild')
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'pcp-ts-lines-')))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
await build({
  absWorkingDir: top,
  entryPoints: ['test/interop/lib/lines/main.ts'],
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
  outdir: dir,
  logLevel: 'warning',
})
writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
const { main } = await import(pathToFileURL(join(dir, 'main.js')).href)
process.exit(await main(process.argv.slice(2)))
