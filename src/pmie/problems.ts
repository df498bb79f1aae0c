/** What pmie says of metrics and hosts that rules cannot use. docs/pmie.md */
import { PcpError } from '../model/errors.ts'
import type { Context } from '../pmapi/context.ts'
import type { LookupProblem, RuleHost } from './host.ts'

/** Where pmie's words go. */
export interface Voice {
  /** A line on standard error. */
  readonly say: (line: string) => void
  /** A line with the time and a level. */
  readonly notice: (level: 'info' | 'warning' | 'error', text: string) => void
  /** What stands behind a message that a metric is unknown: names that are near, for people. */
  readonly hint?: (metric: string, error: PcpError | undefined, context: Context) => Promise<string>
}

function sourceOf({ isArchive, connection, name }: RuleHost): string {
  return `${isArchive ? 'archive' : 'pmcd'} ${connection} (host ${name})`
}

/** Tells why a metric cannot be used. */
export function tellProblem(
  voice: Voice,
  host: RuleHost,
  metric: string,
  problem: LookupProblem,
  hint = '',
): void {
  const { what, error, instance } = problem
  const why = error === undefined ? '' : PcpError.from(error).text
  if (what === 'name')
    voice.say(
      `pmie: metric ${metric} not in namespace for ${sourceOf(host)}\npmLookupName failed: ${why}${hint}`,
    )
  else if (what === 'desc')
    voice.say(
      `pmie: metric ${metric} not currently available from ${sourceOf(host)}\npmLookupDesc failed: ${why}`,
    )
  else if (what === 'type') voice.say(`pmie: metric ${metric} has inappropriate type`)
  else if (what === 'singular') voice.say(`pmie: metric ${metric} has no instances`)
  else
    voice.notice(
      'error',
      `metric ${metric} from ${sourceOf(host)} does not (currently) have instance "${instance}"`,
    )
}
