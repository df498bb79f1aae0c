/** Runs pcp and its commands in this process, with values interpolated like in 6.0.3: docs/explanation/differences.md. */
import { PcpError } from '../../../src/model/errors.ts'
import { openArchive } from '../../../src/pmapi/archive.ts'
import { tool } from '../../../src/tools/pcp/index.ts'
import { TOOLS } from '../../../src/tools/registry.ts'
import { testIo } from '../../tools/run-tool.ts'
import type { Printed } from './programs.ts'

/** Runs `pcp ARGS`; an error that ends it goes to standard error, formatted like by `main`. */
export async function runPcpHere(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Printed> {
  const io = testIo('pcp', args, env)
  let status = 1
  try {
    status = await tool.run({
      ...io,
      now: Date.now,
      commands: async () => TOOLS,
      openArchive: (names, options) => openArchive(names, { ...options, nearest: false }),
    })
  } catch (error) {
    io.stderr.write(`${PcpError.from(error).message}\n`)
  }
  return { status, ...io.printed }
}
