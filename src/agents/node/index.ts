/**
 * The node agent (domain 460): Node.js processes on this host that measure themselves with `pcp-ts/node`, by process. Their
 * metrics are in files of memory-mapped values, which come and go with them. docs/guide/node.md
 */
import { join } from 'node:path'
import { MmvFiles } from '../../mmv/files.ts'
import { MMV_FLAG_NOPREFIX } from '../../mmv/layout.ts'
import { PcpError } from '../../model/errors.ts'
import { FILE_PREFIX, NODE_CLUSTER, removeStale } from '../../node/place.ts'
import type { AgentEnv, AgentTables, MetricSpec } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { parsePcpConf } from '../../sys/config.ts'
import { readSmallFile, rooted } from '../../sys/proc.ts'
import { mappedTables } from '../lib/mapped-tables.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({ name: 'node', domain: 460, open })

function open(env: AgentEnv): AgentTables {
  const directories = directoriesOf(env).map(
    (directory) =>
      new MmvFiles(
        directory,
        (text) => env.log('warning', text),
        (name) => name.startsWith(FILE_PREFIX),
      ),
  )
  const files = () =>
    directories
      .flatMap(({ list }) => list)
      .filter(({ layout: { header } }) => header.cluster === NODE_CLUSTER && header.flags & MMV_FLAG_NOPREFIX)
  const controls: { readonly [name: string]: MetricSpec } = {
    'node.control.processes': {
      item: 0,
      type: 'u32',
      sem: 'instant',
      units: 'count',
      help: 'Processes of Node.js, and threads of them, that measure themselves',
      text: 'What imports pcp-ts/node/register. Each has an instance in the other metrics while it lives.',
      value: () => files().length,
    },
  }
  const tables = (): AgentTables => ({
    ...mappedTables(files(), {
      controls,
      nowUs: () => env.clock() * 1000,
      log: (text) => env.log('warning', text),
    }),
    dynamicRoots: ['node'],
    beforeRequest: () => {
      // All of them, not only up to the first in which something changed.
      if (directories.map((directory) => directory.reload()).includes(true)) replace()
    },
    beforeFetch: () => {
      for (const directory of directories) directory.refresh()
    },
    close: () => {
      for (const directory of directories) directory.close()
    },
  })
  const replace = (): void => {
    try {
      env.replaceTables(tables())
    } catch (error) {
      env.log('error', PcpError.from(error).message) // the tables stay as they were
    }
  }
  for (const directory of directoriesOf(env)) removeStale(directory)
  for (const directory of directories) directory.reload()
  return tables()
}

/**
 * Where processes publish: below the directory of this collector, and that of an installed PCP, which processes that may
 * write there prefer unless their environment says otherwise.
 */
function directoriesOf({ env, root }: AgentEnv): readonly string[] {
  const places = [env['PCP_TMP_DIR'], installedTmpDir(root)].filter((place) => place !== undefined)
  return [...new Set(places)].map((place) => rooted(root, join(place, 'mmv')))
}

function installedTmpDir(root: string): string | undefined {
  try {
    return parsePcpConf(readSmallFile(root, '/etc/pcp.conf'))['PCP_TMP_DIR']
  } catch {
    return undefined // PCP is not installed
  }
}
