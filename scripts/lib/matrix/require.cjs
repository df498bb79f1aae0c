/** Requires every entry point: the same names as its import, and shared classes. */
const { strictEqual, ok } = require('node:assert/strict')
const { createRequire } = require('node:module')
const ENTRIES = ['', '/pmapi', '/local', '/archive', '/derive', '/pmda', '/mmv', '/node']
const load = createRequire(__filename)

async function main() {
  let names = 0
  for (const entry of ENTRIES) {
    const required = Object.keys(load(`pcp-ts${entry}`)).sort()
    const imported = Object.keys(await import(`pcp-ts${entry}`))
      .filter((name) => name !== 'default' && name !== 'module.exports')
      .sort()
    strictEqual(required.join(), imported.join(), `pcp-ts${entry}`)
    ok(required.length > 0)
    names += required.length
  }
  strictEqual(load('pcp-ts').PcpError, load('pcp-ts/pmapi').PcpError)
  console.log(`${names} names of ${ENTRIES.length} entry points`)
}
main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
