/** The commands with their option tables, and what makes documents of them: loaded from the sources. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { top } from './run.mjs'

const CONTENTS = `
import { TOOLS } from './tools/registry.ts'
export { manPage } from './tools/lib/man.ts'
export { bashCompletion, zshCompletion } from './tools/lib/completion.ts'
export { fishCompletion } from './tools/lib/fish-completion.ts'
/** Every command but those that only scripts call; one with two names comes twice. */
export const loadTools = () =>
  Promise.all(TOOLS.filter((row) => !row.isForScripts).map(async (row) => ({ ...(await row.load()), name: row.name })))
`

/** Bundles and imports them. */
export async function loadToolTables() {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-tables-'))
  try {
    const outfile = join(dir, 'tables.mjs')
    await build({
      absWorkingDir: top,
      stdin: { contents: CONTENTS, resolveDir: join(top, 'src'), sourcefile: 'tables.ts', loader: 'ts' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      outfile,
      external: ['koffi'],
      logLevel: 'warning',
    })
    const { loadTools, ...rest } = await import(pathToFileURL(outfile).href)
    return { tools: await loadTools(), ...rest }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
