/** The commands with their option tables, and the functions that make documents of them. */
import { loadSources } from './load-sources.mjs'

const CONTENTS = `
import { TOOLS } from './tools/registry.ts'
export { manPage } from './tools/lib/man.ts'
export { bashCompletion, zshCompletion } from './tools/lib/completion.ts'
export { fishCompletion } from './tools/lib/fish-completion.ts'
/** Every command but those that only scripts call; a command with two names is in the list twice. */
export const loadTools = () =>
  Promise.all(TOOLS.filter((row) => !row.isForScripts).map(async (row) => ({ ...(await row.load()), name: row.name })))
`

/** Bundles and imports them. */
export async function loadToolTables() {
  const { loadTools, ...rest } = await loadSources(CONTENTS)
  return { tools: await loadTools(), ...rest }
}
