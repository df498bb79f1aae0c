/** An agent for the MMV files of a directory: mmv, and pmproxy with another directory. docs/formats/mmv.md */
import { join } from 'node:path'
import { MmvFiles } from '../../mmv/files.ts'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv, AgentTables, MetricSpec } from '../../pmda/define.ts'
import { tmpDirOf } from '../../sys/config.ts'
import { rooted } from '../../sys/proc.ts'
import { mappedTables } from './mapped-tables.ts'

/**
 * Returns the tables of an agent with the name prefix `root`, for files in the directory `root` of PCP_TMP_DIR. The tables
 * are replaced when the files change.
 */
export function openMapped(env: AgentEnv, root: string): AgentTables {
  const directory = rooted(env.root, join(tmpDirOf(env.env), root))
  const files = new MmvFiles(directory, (text) => env.log('warning', text))
  let isReloadAsked = false
  let isTalkative = 0
  const control = (
    item: number,
    spec: Pick<MetricSpec, 'help' | 'text' | 'value' | 'store'>,
  ): MetricSpec => ({
    item,
    type: '32',
    sem: 'instant',
    units: 'none',
    isControl: true,
    ...spec,
  })
  const controls: { readonly [name: string]: MetricSpec } = {
    [`${root}.control.reload`]: control(0, {
      help: 'Store a value other than 0 to reload all files',
      text: 'Files are reloaded automatically when the directory or the layout of a file changes. The value is always 0.',
      value: () => 0,
      store: (value) => {
        isReloadAsked = Number(value) !== 0
      },
    }),
    [`${root}.control.debug`]: control(1, {
      help: 'Store 1 to log each reload of the files, 0 to stop logging',
      value: () => isTalkative,
      store: (value) => {
        isTalkative = Number(value)
      },
    }),
    [`${root}.control.files`]: control(2, {
      help: 'Number of mapped files',
      text: `Files in $PCP_TMP_DIR/${root} with a complete layout and, if the file requires it, a running process.`,
      value: () => files.list.length,
    }),
  }
  const tables = (): AgentTables => ({
    ...mappedTables(files.list, {
      controls,
      root,
      nowUs: () => env.clock() * 1000,
      log: (text) => env.log('warning', text),
    }),
    dynamicRoots: [root],
    beforeRequest: () => {
      if (!files.reload(isReloadAsked)) return
      isReloadAsked = false
      if (isTalkative !== 0) env.log('info', `${files.list.length} files in ${directory}`)
      replace()
    },
    beforeFetch: () => files.refresh(),
    close: () => files.close(),
  })
  const replace = (): void => {
    try {
      env.replaceTables(tables())
    } catch (error) {
      env.log('error', PcpError.from(error).message) // the old tables stay
    }
  }
  files.reload()
  return tables()
}
