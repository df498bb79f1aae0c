/** The jbd2 agent (domain 122): transactions of file system journals. /proc/fs/jbd2 */
import type { AgentEnv, AgentTables, IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent, Reading } from '../../pmda/index.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import { inNameOrder, type PlacedRow } from '../lib/name-order.ts'
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
      help: 'directory with one directory a journal (default /proc/fs/jbd2)',
    },
  ],
  open,
})

/** What an average is about: name, items of the total and of the average, and two ways to say what it is. */
interface Row {
  readonly average: AverageName
  readonly name: string
  readonly totalItem?: number
  readonly averageItem: number
  readonly units: 'millisec' | 'microsec' | 'count'
  /** The average of times in milliseconds is 32 bits wide, all else 64. */
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
    'Time that callers waited for a transaction to begin',
    'They wait while the one before is still being locked.',
  ),
  time(
    'requestDelay',
    'request_delay',
    5,
    'Time between the wish for a commit and its begin',
    'Of transactions that somebody asked for (jbd2.transaction.requested). Missing on kernels before 3.11.',
  ),
  time(
    'running',
    'running',
    6,
    'Time that transactions were open for changes',
    'As a rule five seconds each, the commit interval, when nobody asks for an earlier commit.',
  ),
  time(
    'locked',
    'being_locked',
    7,
    'Time from closing transactions until their last change was complete',
    'New changes wait for the next transaction meanwhile.',
  ),
  time(
    'flushing',
    'flushing_ordered_mode_data',
    8,
    'Time spent writing file data that must be on disk before what refers to it',
    'Nothing is flushed like this with data=writeback.',
  ),
  time('logging', 'logging', 9, 'Time spent writing into the journal', 'Grows with a slow or busy disk.'),
  {
    average: 'committing',
    name: 'time.committing',
    averageItem: 19,
    units: 'microsec',
    what: 'Time that a commit takes',
    text: 'The kernel weighs recent commits more; it uses this value to decide how long to collect changes of others.',
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
    'Changes that were put together in transactions',
    'A handle is one operation that is done wholly or not at all: creating a file, for instance.',
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
    text: `Directories of ${directory}: the device, and the number of the journal's inode where it is inside the file system, as in sda1-8. Journals that have not committed anything yet are left out.`,
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
  const metrics: { [name: string]: PlacedRow } = {
    'jbd2.njournals': {
      item: 0,
      type: 'u32',
      sem: 'instant',
      units: 'count',
      help: 'How many journals of mounted file systems there are',
      text: `Those of ${directory} that have committed anything.`,
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

/** What the first line of a journal's file tells. */
function headerMetrics(perJournal: PerJournal): { [name: string]: PlacedRow } {
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
        help: 'Transactions that were committed early because somebody asked for it',
        text: `By fsync(2), for instance. ${text} Missing on kernels before 3.11.`,
      },
      (journal) => journal.requested,
    ),
    'jbd2.transaction.max_blocks': perJournal(
      {
        item: 3,
        type: 'u32',
        sem: 'instant',
        units: 'none',
        help: 'How many blocks one transaction may change at most',
        text,
      },
      (journal) => journal.maxBlocks,
    ),
  }
}

/** The average that a line of the file is, and the total it stands for. */
function rowMetrics(row: Row, perJournal: PerJournal): { [name: string]: PlacedRow } {
  const { average, name, totalItem, averageItem, units, type = 'u64', what, text } = row
  const line = `the line "N${AVERAGES[average]}"`
  const found: { [name: string]: PlacedRow } = {
    [`jbd2.transaction.average.${name}`]: perJournal(
      {
        item: averageItem,
        type,
        sem: 'instant',
        units,
        help: `${what}: average of a transaction since the file system was mounted`,
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
        text: `${text} The average of ${line} times the number of transactions: as the average is rounded down, so is this, and it may go back a little.`,
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
