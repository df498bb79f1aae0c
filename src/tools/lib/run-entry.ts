/** Runs one command of this package from another, in the same process. */
import { versionLine } from '../../base/version.ts'
import { PcpError } from '../../model/errors.ts'
import type { CommandEntry, ToolIo } from './tool.ts'

/** Runs a command with the name and arguments of `io`, as its own program would. Resolves to its exit status. */
export async function runEntry(entry: CommandEntry, io: ToolIo): Promise<number> {
  const { args, progname, stdout, stderr, signal } = io
  if (entry.hasOwnVersion !== true && args.length === 1 && args[0] === '--version') {
    stderr.write(versionLine(progname))
    return 0
  }
  const tool = await entry.load()
  if (tool.shutsDownOnSignal !== true) {
    // The caller's handlers would keep SIGINT from killing a command that does not check the signal.
    process.removeAllListeners('SIGINT')
    process.removeAllListeners('SIGTERM')
  }
  try {
    return await tool.run(io)
  } catch (error) {
    // Errors other than PcpError are printed with their stack by the process.
    if (!(error instanceof PcpError) || signal.aborted) throw error
    await stdout.flush()
    stderr.write(`${progname}: ${error.message}\n`)
    return 1
  } finally {
    await stdout.flush()
  }
}
