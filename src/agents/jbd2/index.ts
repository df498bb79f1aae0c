/** The jbd2 agent (domain 122): transactions of file system journals. /proc/fs/jbd2 */
import type { AgentEnv, AgentTables, IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent, Reading } from '../../pmda/index.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import { inNameOrder, type OrderedRow } from '../lib/name-order.ts'
import { AVERAGES, type AverageName, type Journal, readJournals } from './journals.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({
  name: 'jbd2',
  domain: 122,
  needsNoRoot: true,
  options: [
    {
      short: 'j',
      long: 'journals',
      arg: 'PATH',
      help: 'directory with one directory per journal (default /proc/fs/jbd2)',
    },
  ],
  open,
})

/** An average: its line in the file, items of the total and of the average, and two help texts. */
interface Row {
  readonly average: AverageName
  readonly name: string
  readonly totalItem?: number
  readonly averageItem: number
  readonly units: 'millisec' | 'microsec' | 'count'
  /** Averages of milliseconds are 32 bits wide, all others 64. */
  readonly type?: 'u32'
  readonly what: string
  readonly text: string
}

const time = (average: AverageName, name: string, item: number, what: string, text: string): Row => ({
  average,
  name: `time.${name}`,
  totalItem: item,
  averageItem: item + 9,
  units: 'millisec',
  type: 'u32',
  what,
  text,
})
const count = (average: AverageName, name: string, item: number, what: string, text: string): Row => ({
  average,
  name,
  totalItem: item,
  averageItem: item + 10,
  units: 'count',
  what,
  text,
})

const ROWS: readonly Row[] = [
  time(
    'waiting',
    'waiting',
    4,
    'Time that callers waited for a transaction to start',
    'They wait while the previous transaction is being locked.',
  ),
  time(
    'requestDelay',
    'request_delay',
    5,
    'Delay between the request for a commit and its start',
    'Of transactions whose commit was requested (jbd2.transaction.requested). Missing on kernels before 3.11.',
  ),
  time(
    'running',
    'running',
    6,
    'Time that transactions were open for changes',
    'Usually the commit interval of five seconds, unless an earlier commit is requested.',
  ),
  time(
    'locked',
    'being_locked',
    7,
    'Time from closing transactions until their last change was complete',
    'In the meantime new changes wait for the next transaction.',
  ),
  time(
    'flushing',
    'flushing_ordered_mode_data',
    8,
    'Time spent writing file data that must be on disk before the metadata that refers to it',
    'Not used with data=writeback.',
  ),
  time('logging', 'logging', 9, 'Time spent writing into the journal', 'Grows with a slow or busy disk.'),
  {
    average: 'committing',
    name: 'time.committing',
    averageItem: 19,
    units: 'microsec',
    what: 'Duration of a commit',
    text: 'The kernel gives recent commits more weight; it uses this value to decide how long to wait for further changes.',
  },
  count(
    'blocks',
    'blocks',
    10,
    'Blocks changed by transactions',
    'A block that is changed repeatedly in one transaction counts once.',
  ),
  count(
    'logged',
    'blocks_logged',
    11,
    'Blocks written into the journal for transactions',
    'Changed blocks and the journal’s own descriptions of them.',
  ),
  count(
    'handles',
    'handles',
    12,
    'Handles combined in transactions',
    'A handle is one atomic operation, for example creating a file.',
  ),
]

function open(env: AgentEnv): AgentTables {
  const given = env.options['journals']
  const directory = typeof given === 'string' ? given : '/proc/fs/jbd2'
  const numbers = new InstanceIds()
  const journals = new Reading(() => {
    const found = readJournals(env.root, directory)
    return new Map(found.map((journal) => [numbers.idOf(journal.name), journal]))
  })
  const indom: IndomSpec = {
    serial: 0,
    reading: journals,
    instances: () => ({
      ids: [...journals.value.keys()],
      names: [...journals.value.values()].map(({ name }) => name),
    }),
    help: 'Journals of mounted file systems',
    text: `Directories of ${directory}: the device and, for a journal inside the file system, its inode number, as in sda1-8. Journals without a commit are left out.`,
  }
  const perJournal = (
    spec: Omit<MetricSpec, 'indom' | 'value' | 'reading'>,
    value: (journal: Journal) => Sample,
  ): MetricSpec => ({
    ...spec,
    indom,
    reading: journals,
    value: (inst) => {
      const journal = journals.value.get(inst)
      return journal === undefined ? undefined : value(journal)
    },
  })
  const metrics: { [name: string]: OrderedRow } = {
    'jbd2.njournals': {
      item: 0,
      type: 'u32',
      sem: 'instant',
      units: 'count',
      help: 'Number of journals of mounted file systems',
      text: `Journals in ${directory} with at least one commit.`,
      reading: journals,
      value: () => journals.value.size,
    },
    ...headerMetrics(perJournal),
  }
  for (const row of ROWS) Object.assign(metrics, rowMetrics(row, perJournal))
  return { metrics: inNameOrder(metrics, 'jbd2.transaction.total') }
}

type PerJournal = (
  spec: Omit<MetricSpec, 'indom' | 'value' | 'reading'>,
  value: (journal: Journal) => Sample,
) => MetricSpec

/** Metrics from the first line of a journal's file. */
function headerMetrics(perJournal: PerJournal): { [name: string]: OrderedRow } {
  const text = 'From the first line of the file info of the journal.'
  return {
    'jbd2.transaction.count': perJournal(
      {
        item: 1,
        type: 'u64',
        sem: 'counter',
        units: 'count',
        help: 'Transactions committed since the file system was mounted',
        text,
      },
      (journal) => journal.count,
    ),
    'jbd2.transaction.requested': perJournal(
      {
        item: 2,
        type: 'u64',
        sem: 'counter',
        units: 'count',
        help: 'Transactions committed early on request',
        text: `For example by fsync(2). ${text} Missing on kernels before 3.11.`,
      },
      (journal) => journal.requested,
    ),
    'jbd2.transaction.max_blocks': perJournal(
      {
        item: 3,
        type: 'u32',
        sem: 'instant',
        units: 'none',
        help: 'Most blocks that one transaction may change',
        text,
      },
      (journal) => journal.maxBlocks,
    ),
  }
}

/** Metrics of an average in the file and of the total computed from it. */
function rowMetrics(row: Row, perJournal: PerJournal): { [name: string]: OrderedRow } {
  const { average, name, totalItem, averageItem, units, type = 'u64', what, text } = row
  const line = `the line "N${AVERAGES[average]}"`
  const found: { [name: string]: OrderedRow } = {
    [`jbd2.transaction.average.${name}`]: perJournal(
      {
        item: averageItem,
        type,
        sem: 'instant',
        units,
        help: `${what}: average per transaction since the file system was mounted`,
        text: `${text} From ${line} of the file info of the journal.`,
      },
      (journal) => journal.averages[average],
    ),
  }
  if (totalItem !== undefined)
    found[`jbd2.transaction.total.${name}`] = perJournal(
      {
        item: totalItem,
        type: 'u64',
        sem: 'counter',
        units,
        help: `${what}: sum of all transactions since the file system was mounted`,
        text: `${text} The average of ${line} times the number of transactions: because the average is rounded down, so is the total, which may decrease slightly.`,
      },
      (journal) =>
        product(average === 'requestDelay' ? journal.requested : journal.count, journal.averages[average]),
    )
  return found
}

function product(transactions: number | undefined, average: number | undefined): Sample {
  if (transactions === undefined || average === undefined) return undefined
  const total = transactions * average
  return Number.isSafeInteger(total) ? total : BigInt.asUintN(64, BigInt(transactions) * BigInt(average))
}
