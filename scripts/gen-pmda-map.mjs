/** Writes docs/reference/pmda-map.md from docs/reference/pmda-map.json: each function of libpcp_pmda, its counterpart, and its test. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { mapPage } from './gen-pmapi-map.mjs'
import { top } from './lib/run.mjs'

const HEAD = `# From agents in C to agents in TypeScript

Generated from \`pmda-map.json\` by \`npm run docs\`; a test fails where a function, what does its work here, or the test of
that is missing.

An agent is a table ([the agent toolkit](agent-toolkit.md)) and not a set of callbacks; what C agents keep in structures of the library are objects
that the agent makes. Codes that C returns are exceptions, or a \`PcpError\` in the place of a value. Everything is exported
by \`pcp-ts/pmda\` unless another module is named. There are no interface versions to choose: an agent has all of version 7, in
every collector.
`

/** Returns the page. */
export function pmdaPage(rows) {
  return mapPage(rows, HEAD)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const rows = JSON.parse(readFileSync(join(top, 'docs', 'reference', 'pmda-map.json'), 'utf8'))
  writeFileSync(join(top, 'docs', 'reference', 'pmda-map.md'), pmdaPage(rows))
}
