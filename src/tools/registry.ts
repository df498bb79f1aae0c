/** Registry of commands. A new command is one file and one row here. */
import type { Tool } from './lib/tool.ts'

/** A row of the registry. */
export interface ToolEntry {
  /** Name of the command, and of its file or folder without `file`. */
  readonly name: string
  /** File or folder of a command with several names. */
  readonly file?: string
  /** Run by this command, as its first argument, and not by a name of its own: `pcp-ts start` is pcp-ts-start. */
  readonly subcommandOf?: 'pcp-ts'
  /** Called by scripts through its path in bin; not installed on a user's PATH. */
  readonly isForScripts?: true
  /** Its --version does not print the version of the package. */
  readonly hasOwnVersion?: true
  readonly load: () => Promise<Tool>
}

/** All commands. */
export const TOOLS: readonly ToolEntry[] = [
  { name: 'Make.stdpmid', isForScripts: true, load: async () => (await import('./Make.stdpmid.ts')).tool },
  { name: 'Rebuild', isForScripts: true, load: async () => (await import('./Rebuild.ts')).tool },
  { name: 'chkhelp', load: async () => (await import('./chkhelp.ts')).tool },
  { name: 'dbpmda', load: async () => (await import('./dbpmda/index.ts')).tool },
  { name: 'pmda-install', load: async () => (await import('./pmda-install.ts')).tool },
  { name: 'pmda-remove', load: async () => (await import('./pmda-remove.ts')).tool },
  { name: 'pmda-new', load: async () => (await import('./pmda-new/index.ts')).tool },
  { name: 'newhelp', hasOwnVersion: true, load: async () => (await import('./newhelp.ts')).tool },
  { name: 'pcp', load: async () => (await import('./pcp/index.ts')).tool },
  { name: 'pcp-atop', load: async () => (await import('./pcp-atop/index.ts')).tool },
  { name: 'pcp-free', load: async () => (await import('./pcp-free/index.ts')).tool },
  { name: 'pcp-iostat', load: async () => (await import('./pcp-iostat/index.ts')).tool },
  { name: 'pcp-ipcs', load: async () => (await import('./pcp-ipcs.ts')).tool },
  { name: 'pcp-mpstat', load: async () => (await import('./pcp-mpstat/index.ts')).tool },
  { name: 'pcp-numastat', load: async () => (await import('./pcp-numastat.ts')).tool },
  { name: 'pcp-summary', load: async () => (await import('./pcp-summary/index.ts')).tool },
  { name: 'pcp-uptime', load: async () => (await import('./pcp-uptime.ts')).tool },
  { name: 'pcp-vmstat', load: async () => (await import('./pcp-vmstat.ts')).tool },
  { name: 'pcp-dstat', hasOwnVersion: true, load: async () => (await import('./pcp-dstat/index.ts')).tool },
  { name: 'pcp-pidstat', load: async () => (await import('./pcp-pidstat/index.ts')).tool },
  { name: 'pcp-ps', load: async () => (await import('./pcp-ps/index.ts')).tool },
  { name: 'pcp-ss', load: async () => (await import('./pcp-ss/index.ts')).tool },
  { name: 'pcp2arrow', load: async () => (await import('./pcp2arrow/index.ts')).tool },
  { name: 'pcp-ts', load: async () => (await import('./pcp-ts/index.ts')).tool },
  {
    name: 'pcp-ts-start',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/start/index.ts')).tool,
  },
  {
    name: 'pcp-ts-status',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/status/index.ts')).tool,
  },
  {
    name: 'pcp-ts-doctor',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/doctor/index.ts')).tool,
  },
  {
    name: 'pcp-ts-service',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/service/index.ts')).tool,
  },
  {
    name: 'pcp-ts-agent',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/agent/index.ts')).tool,
  },
  {
    name: 'pcp-ts-link',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/link/index.ts')).tool,
  },
  {
    name: 'pcp-ts-unlink',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/unlink.ts')).tool,
  },
  {
    name: 'pcp-ts-man',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/man.ts')).tool,
  },
  {
    name: 'pcp-ts-completion',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/completion.ts')).tool,
  },
  {
    name: 'pcp-ts-help',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/help.ts')).tool,
  },
  {
    name: 'pcp-ts-container',
    subcommandOf: 'pcp-ts',
    load: async () => (await import('./pcp-ts/container/index.ts')).tool,
  },
  { name: 'pcp2csv', file: 'pmrep', load: async () => (await import('./pmrep/index.ts')).tool },
  { name: 'pcp2json', load: async () => (await import('./pcp2json/index.ts')).tool },
  { name: 'pcp2xml', load: async () => (await import('./pcp2xml/index.ts')).tool },
  { name: 'pcp2openmetrics', load: async () => (await import('./pcp2openmetrics/index.ts')).tool },
  { name: 'mkaf', load: async () => (await import('./mkaf.ts')).tool },
  { name: 'pmafm', load: async () => (await import('./pmafm/index.ts')).tool },
  { name: 'pmcd', load: async () => (await import('./pmcd.ts')).tool },
  { name: 'pmcd_wait', load: async () => (await import('./pmcd_wait.ts')).tool },
  { name: 'pmclient', load: async () => (await import('./pmclient/index.ts')).tool },
  { name: 'pmconfig', load: async () => (await import('./pmconfig.ts')).tool },
  { name: 'pmdate', load: async () => (await import('./pmdate.ts')).tool },
  { name: 'pmcpp', load: async () => (await import('./pmcpp.ts')).tool },
  { name: 'pmdbg', load: async () => (await import('./pmdbg.ts')).tool },
  { name: 'pmdiff', load: async () => (await import('./pmdiff/index.ts')).tool },
  { name: 'pmdumplog', file: 'pmlogdump', load: async () => (await import('./pmlogdump/index.ts')).tool },
  { name: 'pmdumptext', load: async () => (await import('./pmdumptext/index.ts')).tool },
  { name: 'pmerr', load: async () => (await import('./pmerr.ts')).tool },
  { name: 'pmevent', file: 'pmval', load: async () => (await import('./pmval/index.ts')).tool },
  { name: 'pmfind', load: async () => (await import('./pmfind/index.ts')).tool },
  { name: 'pmgenmap', load: async () => (await import('./pmgenmap/index.ts')).tool },
  { name: 'pmgetopt', load: async () => (await import('./pmgetopt/index.ts')).tool },
  { name: 'pmhostname', load: async () => (await import('./pmhostname.ts')).tool },
  { name: 'pmie', load: async () => (await import('./pmie/index.ts')).tool },
  { name: 'pmieconf', load: async () => (await import('./pmieconf/index.ts')).tool },
  { name: 'pminfo', load: async () => (await import('./pminfo/index.ts')).tool },
  { name: 'pmjson', load: async () => (await import('./pmjson/index.ts')).tool },
  { name: 'pmiostat', file: 'pcp-iostat', load: async () => (await import('./pcp-iostat/index.ts')).tool },
  { name: 'pmlogcheck', load: async () => (await import('./pmlogcheck/index.ts')).tool },
  { name: 'pmlc', load: async () => (await import('./pmlc/index.ts')).tool },
  { name: 'pmlogconf', load: async () => (await import('./pmlogconf/index.ts')).tool },
  { name: 'pmlogdump', load: async () => (await import('./pmlogdump/index.ts')).tool },
  { name: 'pmlogextract', load: async () => (await import('./pmlogextract/index.ts')).tool },
  { name: 'pmlogger', load: async () => (await import('./pmlogger.ts')).tool },
  { name: 'pmlogger_check', load: async () => (await import('./pmlogger_check/index.ts')).tool },
  { name: 'pmiectl', load: async () => (await import('./pmiectl/index.ts')).tool },
  { name: 'pmlogctl', load: async () => (await import('./pmlogctl/index.ts')).tool },
  { name: 'pmie_check', load: async () => (await import('./pmie_check/index.ts')).tool },
  { name: 'pmie_daily', load: async () => (await import('./pmie_daily/index.ts')).tool },
  { name: 'pmlogger_daily', load: async () => (await import('./pmlogger_daily/index.ts')).tool },
  { name: 'pmlogger_merge', load: async () => (await import('./pmlogger_merge.ts')).tool },
  { name: 'pmlogger_rewrite', load: async () => (await import('./pmlogger_rewrite.ts')).tool },
  { name: 'pmloglabel', load: async () => (await import('./pmloglabel.ts')).tool },
  { name: 'pmlogreduce', load: async () => (await import('./pmlogreduce/index.ts')).tool },
  { name: 'pmlogcompress', load: async () => (await import('./pmlogcompress.ts')).tool },
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
  { name: 'pmproxy', load: async () => (await import('./pmproxy.ts')).tool },
  { name: 'pmrep', load: async () => (await import('./pmrep/index.ts')).tool },
  {
    name: 'pmrepconf',
    file: 'pmlogconf/pmrep',
    load: async () => (await import('./pmlogconf/pmrep.ts')).tool,
  },
  { name: 'pmstat', load: async () => (await import('./pmstat/index.ts')).tool },
  { name: 'pmstore', load: async () => (await import('./pmstore.ts')).tool },
  { name: 'pmval', load: async () => (await import('./pmval/index.ts')).tool },
  { name: 'sheet2pcp', load: async () => (await import('./sheet2pcp/index.ts')).tool },
]
