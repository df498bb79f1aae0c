/** What the verbs of `pcp-ts service` get. */
import type { Systemd } from '../../../service/systemd.ts'
import type { ToolIo } from '../../lib/tool.ts'
import type { ServiceArguments } from './options.ts'

/** One call of the command. */
export interface ServiceCall {
  readonly given: ServiceArguments
  readonly io: ToolIo
  /** The service manager of the scope. */
  readonly systemd: Systemd
  /** Directory of our commands. */
  readonly binDir: string
  /** Prints a line for the user. */
  readonly say: (line: string) => void
}
