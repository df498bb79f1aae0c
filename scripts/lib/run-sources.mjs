/** Runs programs of the test folder, which import the sources, after bundling them. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { top } from './run.mjs'

/** Bundles the programs into a temporary folder with `name` in its name, which is removed at exit; returns its URL. */
export async function bundleSources(name, entryPoints, plugins = []) {
  const { build } = await import('esbuild')
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `pcp-ts-${name}-`)))
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  await build({
    absWorkingDir: top,
    entryPoints,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['koffi'],
    // Bundled CommonJS packages require modules of Node.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins,
    outdir: dir,
    logLevel: 'warning',
  })
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
  return pathToFileURL(`${dir}/`)
}
