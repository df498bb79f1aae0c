/** Writes docs/reference/pmapi-map.md from docs/reference/pmapi-map.json: each function of the PMAPI, what does its work here, and its test. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { top } from './lib/run.mjs'

const HEAD = `# From C to TypeScript

Generated from \`pmapi-map.json\` by \`npm run docs\`; a test fails where a function, what does its work here, or the test of
that is missing.

There is no current context: calls are methods of the \`Context\` they concern. Codes that C returns are a rejected promise
when the whole call fails, and an \`Outcome\` in the place of one item that fails. Everything is exported by
\`pcp-ts/pmapi\` unless another module is named; names with \`_r\` are the same here, and so are the \`_v2\` and \`HighRes\` forms,
as all times have nanoseconds.
`

/** The page. */
export function mapPage(rows, head = HEAD) {
  const lines = [head]
  let isOpen = false
  for (const row of rows) {
    if (row.section !== undefined) {
      lines.push(`${isOpen ? '\n' : ''}## ${row.section}\n`, '| C | TypeScript | Test |', '|---|---|---|')
      isOpen = true
      continue
    }
    const { c, ts, why, test } = row
    const folder =
      test === undefined ? '' : `[${test.replace('test/', '').replace('.test.ts', '')}](../../${test})`
    lines.push(`| ${c.join(', ')} | ${ts ?? `not needed: ${why}`} | ${folder} |`)
  }
  return `${lines.join('\n')}\n`
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const rows = JSON.parse(readFileSync(join(top, 'docs', 'reference', 'pmapi-map.json'), 'utf8'))
  writeFileSync(join(top, 'docs', 'reference', 'pmapi-map.md'), mapPage(rows))
}
