/** What the commands that install and remove agents share. */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { loadConfig, type Variables } from '../../../sys/config.ts'
import { postNotice } from '../notices.ts'
import type { ToolIo } from '../tool.ts'
import { runningCollector } from './collector.ts'
import type { InstallSettings } from './install.ts'

/** Variables of pcp.conf and the environment: private trees are given by PCP_CONF, or variable by variable. */
export function installVariables(io: ToolIo): Variables {
  return loadConfig(io.env, { uid: process.getuid?.() ?? 0 }).variables
}

/** Settings for the running collector, with messages to the command's output. */
export function installSettings(io: ToolIo, options: { readonly checks: boolean }): InstallSettings {
  const variables = installVariables(io)
  const notices = join(variables['PCP_LOG_DIR']!, 'NOTICES')
  return {
    variables,
    collector: runningCollector(variables, io.signal),
    checks: options.checks,
    say: (text) => io.stdout.write(text),
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

/** Where the commands of this package are: beside the one that runs. */
export function binDirOf(program: string): string {
  return dirname(realpathSync(program))
}
