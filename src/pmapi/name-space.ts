/** Local name spaces from files. pmLoadASCIINameSpace(3), docs/how-to/name-spaces.md */
import { loadPmns } from '../pmns/load.ts'
import type { Pmns } from '../pmns/tree.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { defaultPmnsPath, pmnsFiles } from '../sys/pmns-files.ts'

/** Options of `loadNameSpace`. */
export interface NameSpaceOptions {
  /** Refuse two names for one PMID; default false. */
  readonly unique?: boolean
  /** Environment with PMNS_DEFAULT and PCP_VAR_DIR; default: that of this process. */
  readonly env?: Variables
}

/**
 * Loads a name space, by default the installed one. Pass it to `connect` or `openArchive` as `names` to replace the names
 * of the source. PM_ERR_PMNS with all errors of an invalid file, an errno for an unreadable one.
 * @see pmLoadASCIINameSpace(3)
 */
export function loadNameSpace(
  file?: string,
  { unique = false, env = process.env }: NameSpaceOptions = {},
): Pmns {
  const { variables } = loadConfig(env)
  return loadPmns(file ?? defaultPmnsPath(variables), pmnsFiles(variables), { unique })
}
