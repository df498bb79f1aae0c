/** Name spaces of one's own, from files of this system. pmLoadASCIINameSpace(3), docs/guide/name-spaces.md */
import { loadPmns } from '../pmns/load.ts'
import type { Pmns } from '../pmns/tree.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { defaultPmnsPath, pmnsFiles } from '../sys/pmns-files.ts'

/** How to load a name space. */
export interface NameSpaceOptions {
  /** Refuse two names for one PMID; default false. */
  readonly unique?: boolean
  /** Default: the environment of this process. PMNS_DEFAULT and PCP_VAR_DIR are looked at. */
  readonly env?: Variables
}

/**
 * Loads a name space, the installed one by default. Give it to `connect` or `openArchive` as `names`: it then stands in the
 * place of the names of the source. PM_ERR_PMNS with all there is to say about a file that is wrong, an errno for one that
 * cannot be read. @see pmLoadASCIINameSpace(3)
 */
export function loadNameSpace(
  file?: string,
  { unique = false, env = process.env }: NameSpaceOptions = {},
): Pmns {
  const { variables } = loadConfig(env)
  return loadPmns(file ?? defaultPmnsPath(variables), pmnsFiles(variables), { unique })
}
