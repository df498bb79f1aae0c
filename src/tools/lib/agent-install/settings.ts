/** Settings shared by the commands that install and remove agents. */
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { loadConfig, type Variables } from '../../../sys/config.ts'
import { postNotice } from '../notices.ts'
import type { ToolIo } from '../tool.ts'
import { runningCollector } from './collector.ts'
import type { InstallSettings } from './install.ts'

/** Reads the variables of pcp.conf and the environment. PCP_CONF or single variables select a private tree. */
export function installVariables(io: ToolIo): Variables {
  return loadConfig(io.env, { uid: process.getuid?.() ?? 0 }).variables
}

/** Returns settings for the running collector, with messages to the command's output. */
export function installSettings(io: ToolIo, options: { readonly checks: boolean }): InstallSettings {
  const variables = installVariables(io)
  const notices = join(variables['PCP_LOG_DIR']!, 'NOTICES')
  return {
    variables,
    collector: runningCollector(variables, io.signal),
    checks: options.checks,
    progress: (text) => io.stdout.write(text),
    warn: (text) => io.stderr.write(`${io.progname}: ${text}\n`),
    notice: (text) => {
      try {
        postNotice(notices, text, io.now())
      } catch (error) {
        io.stderr.write(
          `${io.progname}: Warning: ${PcpError.from(error, `cannot note that in ${notices}`).message}\n`,
        )
      }
    },
    signal: io.signal,
  }
}
