/** Kinds of sources of hosts. */
import { PcpError } from '../model/errors.ts'
import type { SourceKind } from './source.ts'
import { command } from './sources/command.ts'
import { dns } from './sources/dns.ts'
import { fileSd } from './sources/file-sd.ts'
import { kubernetes } from './sources/kubernetes.ts'
import { list } from './sources/list.ts'
import { probe } from './sources/probe.ts'

export const SOURCE_KINDS: readonly SourceKind[] = [list, fileSd, dns, probe, command, kubernetes]

/** Returns the kind and argument of a text such as `dns:NAME`. Throws EINVAL for an unknown kind. */
export function sourceKind(text: string): { readonly kind: SourceKind; readonly argument: string } {
  const [name = '', argument = ''] = text.split(/:(.*)/s)
  const kind = SOURCE_KINDS.find((each) => each.name === name)
  if (kind === undefined)
    throw new PcpError(
      'EINVAL',
      `unknown source "${name}": use ${SOURCE_KINDS.map((each) => each.name).join(', ')}`,
    )
  return { kind, argument }
}
