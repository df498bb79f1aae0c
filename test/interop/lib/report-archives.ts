/** Ten archives of PCP's own tests for reports of several metrics. */

/** Archives, and metrics that each has. */
export const REPORT_ARCHIVES: readonly (readonly [name: string, metrics: readonly string[]])[] = [
  ['rep', ['kernel.all.load', 'mem.util.used', 'kernel.percpu.cpu.user', 'kernel.uname.sysname']],
  ['20130706', ['disk.dev.read', 'kernel.all.load', 'mem.util.free', 'kernel.all.pswitch']],
  ['dyninsts', ['disk.dev.read', 'disk.dev.write', 'mem.util.used']],
  ['dyninsts2', ['disk.dev.read', 'disk.dev.write']],
  ['rank-pred', ['disk.dev.read', 'disk.dev.write', 'mem.util.used']],
  ['value-test', ['kernel.all.uptime', 'sample.float.one']],
  ['sample-secs', ['sample.seconds', 'sample.milliseconds']],
  ['pcp-vmstat', ['kernel.all.load', 'mem.util.free', 'swap.pagesin']],
  ['coverage', ['mem.util.free']],
  ['numa', ['hinv.machine', 'kernel.pernode.cpu.user']],
]
