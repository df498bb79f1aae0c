/** acct: processes that ended a short time ago. acct(5) */
import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { Value } from '../../model/values.ts'
import type { IndomSpec, Sample, SemName, TypeName } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { AcctFile, AcctRecord, AcctSettings } from './acct-file.ts'
import type { ProcContext } from './context.ts'
import { TtyNames } from './ttyname.ts'

const FORKED = 1
const SUPERUSER = 2
const DUMPED = 8
const KILLED = 16

type Row = readonly [
  name: string,
  item: number,
  type: TypeName,
  sem: SemName,
  units: string,
  help: string,
  pick: (record: AcctRecord) => Sample,
]

function rowsOf(ctx: ProcContext): readonly Row[] {
  const ttys = new TtyNames(ctx.root)
  const flag = (bit: number) => (record: AcctRecord) => Number((record.flags & bit) !== 0)
  const { userName, groupName } = ctx.accounts
  return [
    ['psinfo.tty', 0, 'u32', 'discrete', 'none', 'Device number of the terminal it had', ({ tty }) => tty],
    [
      'psinfo.exitcode',
      1,
      'u32',
      'discrete',
      'none',
      'Exit status, as returned by wait()',
      ({ exitcode }) => exitcode,
    ],
    ['id.uid', 2, 'u32', 'discrete', 'none', 'User of an ended process', ({ uid }) => uid],
    ['id.gid', 3, 'u32', 'discrete', 'none', 'Group of an ended process', ({ gid }) => gid],
    ['psinfo.pid', 4, 'u32', 'discrete', 'none', 'Process identifier it had', ({ pid }) => pid],
    ['psinfo.ppid', 5, 'u32', 'discrete', 'none', 'Process that had started it', ({ ppid }) => ppid],
    ['psinfo.btime', 6, 'u32', 'discrete', 'sec', 'Start time, since the epoch', ({ btime }) => btime],
    ['psinfo.etime', 7, 'float', 'counter', 'sec', 'Elapsed time of an ended process', ({ etime }) => etime],
    ['psinfo.utime', 8, 'float', 'counter', 'sec', 'User CPU time of an ended process', ({ utime }) => utime],
    [
      'psinfo.stime',
      9,
      'float',
      'counter',
      'sec',
      'System CPU time of an ended process',
      ({ stime }) => stime,
    ],
    ['psinfo.mem', 10, 'u64', 'instant', 'Kbyte', 'Average memory use', ({ mem }) => mem],
    ['psinfo.io', 11, 'u64', 'counter', 'count', 'Characters transferred', ({ io }) => io],
    ['psinfo.rw', 12, 'u64', 'counter', 'count', 'Blocks read or written', ({ rw }) => rw],
    ['psinfo.minflt', 13, 'u64', 'counter', 'none', 'Page faults without I/O', ({ minflt }) => minflt],
    ['psinfo.majflt', 14, 'u64', 'counter', 'count', 'Page faults with I/O', ({ majflt }) => majflt],
    [
      'psinfo.swaps',
      15,
      'u64',
      'counter',
      'count',
      'Number of times it was swapped out',
      ({ swaps }) => swaps,
    ],
    [
      'psinfo.ttyname',
      16,
      'string',
      'discrete',
      'none',
      'Terminal it had; a question mark without one',
      ({ tty }) => ttys.nameOf(tty),
    ],
    ['id.uid_nm', 17, 'string', 'discrete', 'none', 'Name of its user', ({ uid }) => userName(uid) ?? ''],
    ['id.gid_nm', 18, 'string', 'discrete', 'none', 'Name of its group', ({ gid }) => groupName(gid) ?? ''],
    [
      'flag.fork',
      19,
      'u32',
      'instant',
      'none',
      'Whether it was forked and never ran another program',
      flag(FORKED),
    ],
    ['flag.su', 20, 'u32', 'instant', 'none', 'Whether it used superuser privileges', flag(SUPERUSER)],
    ['flag.core', 21, 'u32', 'discrete', 'none', 'Whether it dumped core', flag(DUMPED)],
    ['flag.xsig', 22, 'u32', 'discrete', 'none', 'Whether it was killed by a signal', flag(KILLED)],
  ]
}

/** The metrics of cluster 70. */
export function acctMetrics(ctx: ProcContext, file: AcctFile): { [name: string]: OrderedRow } {
  const ended = new Reading(() => file.update())
  const indom: IndomSpec = {
    serial: 40,
    reading: ended,
    instances: () => {
      const records = [...ended.value.values()]
      return { ids: records.map(({ pid }) => pid), names: records.map(({ comm }) => comm) }
    },
    help: 'Recently ended processes',
    text: 'The identifier is the PID, the name that of the program. A process is shown for acct.control.lifetime seconds.',
  }
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, type, sem, units, help, pick] of rowsOf(ctx))
    metrics[`acct.${name}`] = {
      cluster: 70,
      item,
      type,
      sem,
      units,
      indom,
      reading: ended,
      help,
      text: `${help}. From the file of kernel process accounting, if enabled.`,
      value: (inst) => {
        const record = ended.value.get(inst)
        return record === undefined ? undefined : pick(record)
      },
    }
  return { ...metrics, ...settingMetrics(file) }
}

type SettingRow = readonly [
  name: string,
  key: keyof AcctSettings,
  item: number,
  type: TypeName,
  units: string,
  help: string,
]

const SETTINGS: readonly SettingRow[] = [
  [
    'open_retry_interval',
    'openRetryInterval',
    23,
    'u32',
    'sec',
    'Interval of attempts to open the accounting file',
  ],
  [
    'check_acct_interval',
    'checkAcctInterval',
    24,
    'u32',
    'sec',
    'Interval of checks whether the file was replaced',
  ],
  [
    'file_size_threshold',
    'fileSizeThreshold',
    25,
    'u64',
    'byte',
    'Size at which the private file of this agent is truncated',
  ],
  ['lifetime', 'lifetime', 26, 'u32', 'sec', 'Time for which ended processes are shown'],
  [
    'refresh',
    'refresh',
    27,
    'u32',
    'sec',
    'Interval at which the private file of this agent is read without requests',
  ],
]

function settingMetrics(file: AcctFile): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, key, item, type, units, help] of SETTINGS)
    metrics[`acct.control.${name}`] = {
      cluster: 70,
      item,
      type,
      sem: 'discrete',
      units,
      help,
      text: `${help}. Root may store it.`,
      value: () => file.settings[key],
      store: (value, _inst, ask) => {
        checkIsRoot(ask)
        file.settings[key] = positive(value)
        file.restartTimer()
      },
    }
  metrics['acct.control.enable_acct'] = {
    cluster: 70,
    item: 28,
    type: 'u32',
    sem: 'discrete',
    units: 'none',
    help: 'Whether the kernel writes a private file of this agent (1) or not (0); root may store it',
    text: 'Only needed if accounting is not enabled otherwise. The file is pacct in the directory pmcd below PCP_VAR_DIR and is removed when the agent ends.',
    value: () => Number(file.isEnabled),
    store: (value, _inst, ask) => {
      checkIsRoot(ask)
      if (value !== 0 && value !== 1)
        throw new PcpError('PM_ERR_BADSTORE', `${String(value)} is neither 0 nor 1`)
      file.setEnabled(value === 1)
    },
  }
  return metrics
}

function checkIsRoot(ask: Ask): void {
  if (ask.requester.credentials?.uid !== 0)
    throw new PcpError('PM_ERR_PERMISSION', 'Only root may change how ended processes are accounted for')
}

function positive(value: Value): number {
  const number = Number(value)
  // a timer takes no more than 2^31 ms
  if (!Number.isInteger(number) || number < 1 || number > 2_000_000_000)
    throw new PcpError('PM_ERR_BADSTORE', `${String(value)} must be a whole number above 0`)
  return number
}
