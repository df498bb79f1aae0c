/** Derived metrics of a command: those of --derived, and those of the configuration files. pmLoadDerivedConfig(3), docs/derived.md */
import { PcpError } from '../../model/errors.ts'
import { DerivedMetrics, type DerivedSetup } from '../../pmapi/derived.ts'
import type { Variables } from '../../sys/config.ts'
import type { ToolIo } from './tool.ts'

/** What a command does with files it cannot read. */
export interface DerivedArguments {
  /** Lists of files, as --derived has them. */
  readonly files: readonly string[]
  /** Where there are such files the command goes on with what it has read: its message begins so. */
  readonly warning?: string
}

/** Derived metrics for the contexts of one run. Throws PcpError with the message PCP's commands print. */
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
