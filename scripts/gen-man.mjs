/**
 * Man pages and shell completion of every command, from their option tables: dist/man/man1/NAME.1,
 * dist/completion/bash/pcp-ts, dist/completion/fish/pcp-ts.fish and dist/completion/zsh/_pcp-ts. Part of the build.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { top } from './lib/run.mjs'
import { loadToolTables } from './lib/tool-tables.mjs'

/** Writes the documents below dist. */
export async function generateToolDocuments() {
  const { tools, manPage, bashCompletion, fishCompletion, zshCompletion } = await loadToolTables()
  const known = new Set(tools.map(({ name }) => name))
  write(
    'man/man1',
    tools.map((tool) => [`${tool.name}.1`, manPage(tool, known)]),
  )
  write('completion/bash', [['pcp-ts', bashCompletion(tools)]])
  write('completion/fish', [['pcp-ts.fish', fishCompletion(tools, 'pcp-ts')]])
  write('completion/zsh', [['_pcp-ts', zshCompletion(tools)]])
}

function write(folder, files) {
  const dir = join(top, 'dist', folder)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  for (const [name, text] of files) writeFileSync(join(dir, name), text)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await generateToolDocuments()
