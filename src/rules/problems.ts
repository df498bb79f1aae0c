/** Reports metrics and hosts that rules cannot use. docs/reference/pmie.md */
import { PcpError } from '../model/errors.ts'
import type { LookupProblem, RuleContext, RuleHost } from './host.ts'
import type { SourcePosition } from './syntax.ts'

/** Outputs of pmie's messages. */
export interface Reporter {
  /** Prints a line on standard error; `place` is where the problem is in the rules, if it is there. */
  readonly print: (line: string, place?: SourcePosition) => void
  /** Prints a line with time and level. */
  readonly log: (level: 'info' | 'warning' | 'error', text: string, place?: SourcePosition) => void
  /** Returns similar names, appended to the message about an unknown metric. */
  readonly hint?: (metric: string, error: PcpError | undefined, context: RuleContext) => Promise<string>
}

function sourceOf({ isArchive, connection, name }: RuleHost): string {
  return `${isArchive ? 'archive' : 'pmcd'} ${connection} (host ${name})`
}

/** Reports why a metric cannot be used. */
export function reportProblem(
  reporter: Reporter,
  host: RuleHost,
  metric: string,
  problem: LookupProblem,
  {
    hint = '',
    place,
  }: { readonly hint?: string | undefined; readonly place?: SourcePosition | undefined } = {},
): void {
  const { what, error, instance } = problem
  const why = error === undefined ? '' : PcpError.from(error).text
  if (what === 'name')
    reporter.print(
      `pmie: metric ${metric} not in namespace for ${sourceOf(host)}\npmLookupName failed: ${why}${hint}`,
      place,
    )
  else if (what === 'desc')
    reporter.print(
      `pmie: metric ${metric} not currently available from ${sourceOf(host)}\npmLookupDesc failed: ${why}`,
      place,
    )
  else if (what === 'type') reporter.print(`pmie: metric ${metric} has inappropriate type`, place)
  else if (what === 'singular') reporter.print(`pmie: metric ${metric} has no instances`, place)
  else
    reporter.log(
      'error',
      `metric ${metric} from ${sourceOf(host)} does not (currently) have instance "${instance}"`,
      place,
    )
}
