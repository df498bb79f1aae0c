/** pmseries --rollups: makes the rollups of finished archives. docs/formats/rollups.md */
import { maintainRollups } from '../../series/columns/maintain.ts'
import type { ToolIo } from '../lib/tool.ts'

/** Makes missing rollups and removes those of archives that are gone. Returns the exit status: 1 after failures. */
export async function makeRollups(directories: readonly string[], io: ToolIo): Promise<number> {
  const { built, removed, problems } = await maintainRollups(directories, {
    nowMs: io.now(),
    signal: io.signal,
  })
  for (const base of built) io.stdout.write(`made ${base}\n`)
  for (const path of removed) io.stdout.write(`removed ${path}\n`)
  for (const problem of problems) io.stderr.write(`${io.progname}: Warning: ${problem}\n`)
  return problems.length > 0 ? 1 : 0
}
