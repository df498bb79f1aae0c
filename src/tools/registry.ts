/** The commands: name, what it is for, and how to load it. A new command is one file and one row here. */
import type { Tool } from './lib/tool.ts'

/** A row of the table of commands. */
export interface ToolEntry {
  /** Name of the command, and of its file or folder unless `file` says otherwise. */
  readonly name: string
  /** The file or folder of a command that is known by more than one name. */
  readonly file?: string
  /** Scripts call it by its path in bin: installing the package puts no such command on a user's PATH. */
  readonly isForScripts?: true
  readonly load: () => Promise<Tool>
}

/** Every command, by name. */
export const TOOLS: readonly ToolEntry[] = [
  { name: 'Make.stdpmid', isForScripts: true, load: async () => (await import('./Make.stdpmid.ts')).tool },
  { name: 'Rebuild', isForScripts: true, load: async () => (await import('./Rebuild.ts')).tool },
  { name: 'pmcd', load: async () => (await import('./pmcd.ts')).tool },
  { name: 'pmcd_wait', load: async () => (await import('./pmcd_wait.ts')).tool },
  { name: 'pmclient', load: async () => (await import('./pmclient/index.ts')).tool },
  { name: 'pmconfig', load: async () => (await import('./pmconfig.ts')).tool },
  { name: 'pmcpp', load: async () => (await import('./pmcpp.ts')).tool },
  { name: 'pmdbg', load: async () => (await import('./pmdbg.ts')).tool },
  { name: 'pmdumplog', file: 'pmlogdump', load: async () => (await import('./pmlogdump/index.ts')).tool },
  { name: 'pmerr', load: async () => (await import('./pmerr.ts')).tool },
  { name: 'pmgenmap', load: async () => (await import('./pmgenmap/index.ts')).tool },
  { name: 'pminfo', load: async () => (await import('./pminfo/index.ts')).tool },
  { name: 'pmlogcheck', load: async () => (await import('./pmlogcheck/index.ts')).tool },
  { name: 'pmlc', load: async () => (await import('./pmlc/index.ts')).tool },
  { name: 'pmlogdump', load: async () => (await import('./pmlogdump/index.ts')).tool },
  { name: 'pmlogextract', load: async () => (await import('./pmlogextract/index.ts')).tool },
  { name: 'pmlogger', load: async () => (await import('./pmlogger.ts')).tool },
  { name: 'pmloglabel', load: async () => (await import('./pmloglabel.ts')).tool },
  { name: 'pmlogreduce', load: async () => (await import('./pmlogreduce/index.ts')).tool },
  { name: 'pmlogcp', file: 'pmlogmv', load: async () => (await import('./pmlogmv.ts')).tool },
  { name: 'pmlogls', file: 'pmlogmv', load: async () => (await import('./pmlogmv.ts')).tool },
  { name: 'pmlogmv', load: async () => (await import('./pmlogmv.ts')).tool },
  { name: 'pmlogsize', load: async () => (await import('./pmlogsize/index.ts')).tool },
  { name: 'pmlogrewrite', load: async () => (await import('./pmlogrewrite/index.ts')).tool },
  { name: 'pmlogsummary', load: async () => (await import('./pmlogsummary/index.ts')).tool },
  { name: 'pmnsadd', load: async () => (await import('./pmnsadd.ts')).tool },
  { name: 'pmnsdel', load: async () => (await import('./pmnsdel.ts')).tool },
  { name: 'pmnsmerge', load: async () => (await import('./pmnsmerge.ts')).tool },
  { name: 'pmpasswd', load: async () => (await import('./pmpasswd.ts')).tool },
  { name: 'pmpost', load: async () => (await import('./pmpost.ts')).tool },
  { name: 'pmprobe', load: async () => (await import('./pmprobe.ts')).tool },
  { name: 'pmstore', load: async () => (await import('./pmstore.ts')).tool },
  { name: 'pmval', load: async () => (await import('./pmval/index.ts')).tool },
  { name: 'sheet2pcp', load: async () => (await import('./sheet2pcp/index.ts')).tool },
]
