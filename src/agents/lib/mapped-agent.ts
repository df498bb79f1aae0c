/** An agent of the files of memory-mapped values in one directory: mmv, and pmproxy, which is the same elsewhere. docs/formats/mmv.md */
import { join } from 'node:path'
import { MmvFiles } from '../../mmv/files.ts'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv, AgentTables, MetricSpec } from '../../pmda/define.ts'
import { tmpDirOf } from '../../sys/config.ts'
import { rooted } from '../../sys/proc.ts'
import { mappedTables } from './mapped-tables.ts'

/**
 * The tables of an agent whose names begin with `root`, of the files in the directory `root` of PCP_TMP_DIR. Names, and what
 * is behind them, change with the files.
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
      help: 'Store anything but 0 to have all files read anew',
      text: 'Files are read anew by themselves when the directory or what a file describes changes. The value is always 0.',
      value: () => 0,
      store: (value) => {
        isReloadAsked = Number(value) !== 0
      },
    }),
    [`${root}.control.debug`]: control(1, {
      help: 'Store 1 to have every reading of the files told in the log, 0 to end that',
      value: () => isTalkative,
      store: (value) => {
        isTalkative = Number(value)
      },
    }),
    [`${root}.control.files`]: control(2, {
      help: 'How many files are mapped',
      text: `Files in $PCP_TMP_DIR/${root} whose structure is complete and, where they ask for it, whose process lives.`,
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
      env.log('error', PcpError.from(error).message) // the tables stay as they were
    }
  }
  files.reload()
  return tables()
}
