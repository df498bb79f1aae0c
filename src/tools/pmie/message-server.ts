/** The message server for rules with the action stomp. pmie(1) */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { parseStompConfig, StompClient } from '../../pmie/stomp.ts'
import type { LoadedRules } from '../../rules/load.ts'
import type { Reporter } from '../../rules/problems.ts'
import type { Variables } from '../../sys/config.ts'

/** Opens the server configured by -j or the default file, if any rule uses stomp. Throws ENOENT, EINVAL. */
export function messageServer(
  { tasks }: LoadedRules,
  path: string | undefined,
  { variables, reporter }: { variables: Variables; reporter: Reporter },
): StompClient | undefined {
  const isUsed = tasks.some(({ statements }) => statements.some(({ expr }) => sendsMessages(expr)))
  if (!isUsed) return undefined
  const chosen = path ?? usualPath(variables)
  let text: string
  try {
    text = decodeText(readFileSync(chosen))
  } catch (error) {
    const { code, text: why } = PcpError.from(error)
    throw new PcpError(
      code,
      `Cannot open STOMP configuration file ${chosen}: ${why}; use -j to name another file`,
      {
        cause: error,
      },
    )
  }
  return new StompClient(parseStompConfig(text, chosen), reporter)
}

/** Returns the path PCP's pmie reads, or the one its manual page documents. */
function usualPath(variables: Variables): string {
  const usual = join(variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config/pmie/stomp')
  const said = join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'pmie/config/stomp')
  const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
  return !isThere(usual) && isThere(said) ? said : usual
}

function sendsMessages(expr: unknown): boolean {
  if (typeof expr !== 'object' || expr === null) return false
  const { kind, name } = expr as { kind?: unknown; name?: unknown }
  return (kind === 'action' && name === 'stomp') || Object.values(expr).some(sendsMessages)
}
