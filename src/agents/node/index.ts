/**
 * The node agent (domain 460): Node.js processes on this host that use `pcp-ts/node`, by process. Their metrics are in MMV
 * files that come and go with them. docs/how-to/instrument-node.md
 */
import { join } from 'node:path'
import { MmvFiles } from '../../mmv/files.ts'
import { MMV_FLAG_NOPREFIX } from '../../mmv/layout.ts'
import { PcpError } from '../../model/errors.ts'
import { FILE_PREFIX, NODE_CLUSTER, removeStale } from '../../node/files.ts'
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
      help: 'Processes and threads of Node.js that use pcp-ts/node',
      text: 'Each has an instance in the other metrics while it runs.',
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
      // reload() must be called for each directory, so `some` would not do.
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
      env.log('error', PcpError.from(error).message) // the old tables stay
    }
  }
  for (const directory of directoriesOf(env)) removeStale(directory)
  for (const directory of directories) directory.reload()
  return tables()
}

/**
 * Directories where processes publish: that of this collector and that of an installed PCP, which processes use if they
 * may write there and their environment sets no other.
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
