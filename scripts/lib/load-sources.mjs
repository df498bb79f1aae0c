/** Loads TypeScript of the sources into a script. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { top } from './run.mjs'

/** Bundles `contents`, a module in the folder src, and imports it. */
export async function loadSources(contents) {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-sources-'))
  try {
    const outfile = join(dir, 'sources.mjs')
    await build({
      absWorkingDir: top,
      stdin: { contents, resolveDir: join(top, 'src'), sourcefile: 'sources.ts', loader: 'ts' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      outfile,
      external: ['koffi'],
      logLevel: 'warning',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
