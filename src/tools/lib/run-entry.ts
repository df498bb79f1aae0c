/** Running one command of this package from another, in the same process. */
import { versionLine } from '../../base/version.ts'
import { PcpError } from '../../model/errors.ts'
import type { CommandEntry, ToolIo } from './tool.ts'

/** Runs a command as its own program would: with the name and the arguments of `io`. Resolves to its exit status. */
export async function runEntry(entry: CommandEntry, io: ToolIo): Promise<number> {
  const { args, progname, stdout, stderr, signal } = io
  if (entry.hasOwnVersion !== true && args.length === 1 && args[0] === '--version') {
    stderr.write(versionLine(progname))
    return 0
  }
  const tool = await entry.load()
  if (tool.endsInOrder !== true) {
    // Handlers of the caller would keep the signal from killing a command that never looks.
    process.removeAllListeners('SIGINT')
    process.removeAllListeners('SIGTERM')
  }
  try {
    return await tool.run(io)
  } catch (error) {
    // The process prints errors that are not PcpErrors with the place they come from.
    if (!(error instanceof PcpError) || signal.aborted) throw error
    await stdout.flush()
    stderr.write(`${progname}: ${error.message}\n`)
    return 1
  } finally {
    await stdout.flush()
  }
}
