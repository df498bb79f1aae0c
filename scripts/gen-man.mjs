/**
 * Man pages and shell completion of every command, from their option tables: dist/man/man1/NAME.1,
 * dist/completion/bash/pcp-ts, dist/completion/fish/pcp-ts.fish and dist/completion/zsh/_pcp-ts. Part of the build. A global installation
 * puts the pages in `man` of package.json where man finds them: those of pcp-ts, as the others would collide with an installed PCP's.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  declarePages(tools.map(({ name }) => name).filter((name) => /^pcp-ts(-|$)/.test(name)))
  write('completion/bash', [['pcp-ts', bashCompletion(tools)]])
  write('completion/fish', [['pcp-ts.fish', fishCompletion(tools, 'pcp-ts')]])
  write('completion/zsh', [['_pcp-ts', zshCompletion(tools)]])
}

/** Updates the `man` field of package.json, if it differs from the tables. */
function declarePages(names) {
  const file = join(top, 'package.json')
  const text = readFileSync(file, 'utf8')
  const manifest = JSON.parse(text)
  manifest.man = [...names].sort().map((name) => `dist/man/man1/${name}.1`)
  const now = `${JSON.stringify(manifest, null, 2)}\n`
  if (now !== text) writeFileSync(file, now)
}

function write(folder, files) {
  const dir = join(top, 'dist', folder)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  for (const [name, text] of files) writeFileSync(join(dir, name), text)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await generateToolDocuments()
