/** Archives of PCP's own tests for comparing reports. */

/** Archives, and metrics of each. */
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

/** Archives of various systems and years. */
export const VARIED_ARCHIVES: readonly string[] = [
  '20180127.08.40',
  '20150105.17.57',
  'ok-foo',
  'viewqa1',
  'multi-vm00',
  'bozo-disk',
  'moomba.pmkstat',
  'numa',
  'pcp-zeroconf',
  'kenj-pc-1',
  'pcp-dstat',
  'mirage-1',
]
