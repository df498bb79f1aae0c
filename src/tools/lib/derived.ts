/** Derived metrics from --derived and configuration files. pmLoadDerivedConfig(3), docs/reference/derived-metrics.md */
import { PcpError } from '../../model/errors.ts'
import { DerivedMetrics, type DerivedSetup } from '../../pmapi/derived.ts'
import type { Variables } from '../../sys/config.ts'
import type { ToolIo } from './tool.ts'

/** Files to load, and how to treat unreadable ones. */
export interface DerivedArguments {
  /** Lists of files, as given to --derived. */
  readonly files: readonly string[]
  /** Prefix of a warning about unreadable files, after which the command continues; without it they are errors. */
  readonly warning?: string
}

/** Loads the derived metrics for the contexts of one run. Throws PcpError with the message of PCP's commands. */
export function derivedOf(
  { files, warning }: DerivedArguments,
  variables: Variables,
  io: ToolIo,
): () => DerivedSetup {
  const metrics = new DerivedMetrics(variables)
  const report = (text: string): void => io.stderr.write(text)
  for (const list of files) {
    try {
      metrics.loadFiles(list, report)
    } catch (error) {
      const { code, text } = PcpError.from(error)
      if (warning === undefined)
        throw new PcpError(code, `pmLoadDerivedConfig failed: ${text}`, { cause: error })
      io.stderr.write(`${io.progname}: ${warning}: ${text}\n`)
    }
  }
  return () => metrics.setup(variables, report)
}
