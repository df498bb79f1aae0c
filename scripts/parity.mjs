/**
 * Prints the parity report: `npm run parity [-- AGENT...]`. For each catalogue it counts the metrics that are defined as in the reference
 * and, if the reference is installed, the values that agree. Exits with status 1 if anything differs.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnv, packageBin, run } from './lib/run.mjs'

const agents = process.argv.slice(2)
const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-parity-'))
const file = join(dir, 'report')
const status = run(
  packageBin('vitest'),
  ['run', '--project', 'interop', '--reporter=dot', 'test/interop/parity.test.ts'],
  { env: cleanEnv({ NO_COLOR: '1', PCP_TS_PARITY: file, PCP_TS_PARITY_AGENTS: agents.join(' ') }) },
)
try {
  console.log(readFileSync(file, 'utf8'))
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit(status === 0 ? 0 : 1)
