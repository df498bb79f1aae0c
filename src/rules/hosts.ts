/** Hosts of a run, found by the names in rules. docs/reference/pmie.md */
import { PcpError } from '../model/errors.ts'
import { SemanticError } from './build.ts'
import type { RuleContext, RuleHost } from './host.ts'

/** Finds hosts by name. */
export interface Hosts {
  readonly isArchive: boolean
  /** Host of metrics without an explicit host. */
  readonly first: RuleHost
  /** Returns the host of a name in a rule. Throws SemanticError for a host without an archive. */
  find(name: string): Promise<RuleHost>
  /** All hosts used so far. */
  readonly all: readonly RuleHost[]
  close(): Promise<void>
}

/** Opens archives, each of a different host. Throws PcpError if two are of the same host. */
export function archiveHosts(archives: readonly { name: string; context: RuleContext }[]): Hosts {
  const all: RuleHost[] = []
  for (const { name, context } of archives) {
    const host = context.archive!.label.hostname
    const other = all.find((each) => each.name === host)
    if (other !== undefined)
      throw new PcpError(
        'PM_ERR_LOGHOST',
        `Error: archive ${name} not legal - archive ${other.connection} is already open for host ${host}`,
      )
    all.push({ name: host, connection: name, isArchive: true, context })
  }
  return {
    isArchive: true,
    first: all[0]!,
    all,
    find: async (name) => {
      const found = all.find((each) => each.name === name)
      if (found === undefined) throw new SemanticError(`no archive of host ${name}: add one with -a`)
      return found
    },
    close: async () => {
      for (const { context } of all) await context?.close()
    },
  }
}
