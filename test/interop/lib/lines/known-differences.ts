/** Intended differences, with reasons in docs/explanation/differences.md. */
import type { Both, Done } from './both-sides.ts'
import { type Difference, differenceOf } from './difference.ts'
import { type Line, wordsOf } from './line.ts'
import { firstOf, knownOf, onRules, rulesWith, withoutRulesBut } from './rule-lines.ts'

/** A line with a difference, for a rule. */
interface Context {
  readonly both: Both
  readonly difference: Difference
  readonly words: readonly string[]
}

/** An intended difference: when it applies, or how to remove it from both sides' output. */
interface Excuse {
  readonly reason: string
  /** Commands it applies to, such as `pmval` or `pcp free`; default all. */
  readonly commands?: RegExp
  /** Returns whether it explains the complete difference. */
  readonly applies?: (context: Context) => boolean
  /** Removes the difference from both sides. */
  readonly adapt?: (both: Both, words: readonly string[]) => Both
}

const EXCUSES: readonly Excuse[] = [
  {
    reason: 'the reference ends with a traceback',
    applies: ({ both: { theirs } }) => theirs.stderr.includes('Traceback (most recent call last)'),
  },
  {
    reason: 'the reference crashes',
    applies: ({ both: { theirs } }) =>
      /^SIG(SEGV|ABRT|BUS|FPE)/.test(theirs.status) ||
      /Assertion .* failed|\bcore dumped\b/.test(theirs.stderr),
  },
  {
    reason: "values whose block has no type are read by the descriptor's type",
    commands: /^pmdumplog$/,
    adapt: ({ ours, theirs }) => ({
      ours,
      theirs: { ...theirs, stdout: theirs.stdout.replaceAll(/(?<=\bvalue )\d{9,20}$/gm, swapped) },
    }),
  },
  {
    reason: "values whose block has no type are read by the descriptor's type",
    commands: /^pmlogcheck$/,
    adapt: ({ ours, theirs }) => ({
      ours,
      theirs: { ...theirs, stderr: withoutSwappedWraps(theirs.stderr) },
    }),
  },
  {
    reason: 'pmlogcheck -S is exact',
    commands: /^pmlogcheck$/,
    adapt: (both, words) =>
      words.some((word) => /^(-S|--start)/.test(word)) ? withoutEarlierRecords(both) : both,
  },
  {
    reason:
      'descriptors, instance domains and files are sorted, not in the order of a hash table or directory',
    commands: /^(pmdumplog|pmlogcheck|pmlogsize)$/,
    adapt: each(sortedLines),
  },
  {
    reason: 'sockets come in the order of the archive',
    commands: /^pcp ss$/,
    adapt: each(sortedLines),
  },
  {
    reason: 'an option that 6.0.3 lacks',
    applies: ({ both: { ours, theirs } }) =>
      /(unrecognized|invalid) option/.test(theirs.stderr) &&
      !/(unrecognized|invalid) option/.test(ours.stderr),
  },
  {
    reason: 'errors go to standard error',
    commands: /^(pcp|pmrep)/,
    adapt: movedMessages,
  },
  {
    reason: 'commands of pcp exit with status 1 on failure',
    commands: /^pcp /,
    adapt: ({ ours, theirs }) => ({
      ours,
      theirs: ours.status === '1' && theirs.status === '0' ? { ...theirs, status: '1' } : theirs,
    }),
  },
  {
    reason: 'metrics that old kernels lack may be missing',
    commands: /^pcp (free|ipcs|numastat)$/,
    applies: ({ both: { ours, theirs } }) =>
      ours.status === '0' && theirs.stdout.includes('Unknown metric name'),
  },
  {
    reason: 'damage is handled like in PCP 7.2, or better',
    applies: ({ both: { ours, theirs } }) =>
      theirs.stderr.includes('Corrupted record') && !ours.stderr.includes('Corrupted record'),
  },
  {
    reason: "the reference's summary is empty in another time zone",
    commands: /^pcp( summary)?$/,
    applies: ({ words, both: { theirs } }) =>
      words.some((word) => /^-(Z|-timez)/.test(word)) && theirs.stdout.includes('unknown host'),
  },
  {
    reason: 'the summary shows values recorded later',
    commands: /^pcp( summary)?$/,
    applies: ({ words, difference: { channel } }) =>
      channel === 'stdout' && words.some((word) => /^-([OSA]|-origin|-start|-align)/.test(word)),
  },
  {
    reason: 'unknown words of iostat are reported first',
    commands: /^(pmiostat|pcp iostat)$/,
    applies: ({ both: { ours } }) => ours.stdout === '' && /^Error(: -x takes|, -G)/.test(ours.stderr),
  },
  {
    reason: 'the statement after an error is read; the reference skips it',
    commands: /^pmie$/,
    adapt: ({ ours, theirs }) => ({
      theirs,
      ours:
        / expected to follow /.test(ours.stderr) && ours.stderr.startsWith(theirs.stderr.split('\n[')[0]!)
          ? { ...ours, stdout: withoutRulesBut(ours.stdout, theirs.stdout) }
          : ours,
    }),
  },
  {
    reason: 'aggregates over hosts keep instances apart',
    commands: /^pmie$/,
    adapt: (both, words) => onRules(both, rulesWith(words, /\b(sum|avg|min|max|count)_host\b/), firstOf),
  },
  {
    reason: '&& and || use a set of values and a single value; the reference only the set',
    commands: /^pmie$/,
    adapt: (both, words) => onRules(both, rulesWith(words, /(&&|\|\|) *(some|all|50 %)_\w+ /), knownOf),
  },
  {
    reason: 'the reference shows uninitialized memory',
    commands: /^pmie$/,
    applies: ({ both: { theirs }, difference: { channel } }) =>
      channel === 'stdout' && /\de-3[012]\d\b/.test(theirs.stdout),
  },
  {
    reason: 'pmie exits with status 1 after any error in rules',
    commands: /^pmie$/,
    adapt: ({ ours, theirs }) => ({
      ours,
      theirs:
        ours.status === '1' && theirs.status === '0' && /error/.test(ours.stderr)
          ? { ...theirs, status: '1' }
          : theirs,
    }),
  },
  {
    reason: 'labels and help texts are kept',
    commands: /^pmlogreduce$/,
    adapt: onFiles((text) =>
      text.replaceAll(/^Metric Labels in the Log[\s\S]*?(?=^Instance Domains in the Log)/gm, ''),
    ),
  },
  {
    reason: 'times in archives of version 3 keep their nanoseconds',
    commands: /^pmlogreduce$/,
    adapt: onFiles((text) => text.replaceAll(/(:\d\d\.\d{6})\d{3}\b/g, '$1')),
  },
  {
    reason:
      'the reference ends at an instance that it has not seen, or leaves an archive that cannot be read',
    commands: /^pmlogreduce$/,
    applies: ({ both: { theirs } }) =>
      theirs.stderr.includes('Arrgh') || theirs.files.includes('Empty archive log file'),
  },
  {
    reason: 'every value has the name of its instance',
    commands: /^pmlogreduce$/,
    applies: ({ both: { theirs }, difference: { channel } }) =>
      channel === 'files' && theirs.files.includes(' or ???] '),
  },
  {
    reason: 'another version is a change for pmlogrewrite -q',
    commands: /^pmlogrewrite$/,
    applies: ({ words, both: { ours, theirs } }) =>
      words.some((word) => /^(-q|--quick)$/.test(word)) &&
      words.some((word) => /^(-V|--version)/.test(word)) &&
      ours.files !== '' &&
      theirs.files === '',
  },
  {
    reason: 'pmlogextract -T is exact',
    commands: /^pmlogextract$/,
    applies: ({ words, difference }) =>
      difference.channel === 'files' && words.some((word) => /^(-T|--finish)/.test(word)),
  },
  {
    reason: 'help texts of event.flags and event.missed are our own',
    commands: /^pminfo$/,
    applies: ({ difference }) => /event record/.test(difference.ours),
  },
  {
    reason: 'pcp ss shows the last known values if there are none at a time',
    commands: /^pcp ss$/,
    adapt: onStdout((text) => text.replaceAll(/^(\w+ +\S+) +\d+ +\d+ /gm, '$1 ')),
  },
  {
    reason: '-B leaves the other columns unchanged',
    commands: /^pmlogsummary$/,
    applies: ({ words }) => words.some((word) => /^(-B|--bins)/.test(word)),
  },
  {
    reason: 'the last digits of an average',
    commands: /^pmlogsummary$/,
    adapt: onStdout((text) => text.replaceAll(/\d{15,}/g, (digits) => digits.slice(0, 14))),
  },
  {
    reason: 'pmstat ends with its archive',
    commands: /^(pmstat|pcp vmstat)$/,
    adapt: each(({ stdout, ...done }) => ({
      ...done,
      stdout: withoutToday(stdout).replaceAll(/^ No data in the archive\n/gm, ''),
      status: '',
    })),
  },
  {
    reason: 'an end before the first sample leaves no rows',
    commands: /^(pmstat|pcp vmstat|pmrep|pcp2csv)$/,
    applies: ({ words, both: { ours, theirs }, difference: { channel } }) =>
      words.some((word) => /^(-T|--fin)/.test(word)) &&
      (ours.stderr.startsWith('Interval must be greater than zero.')
        ? !theirs.stderr.includes('Interval')
        : channel !== 'stderr' && hasOnlyHeadings(ours, theirs)),
  },
  {
    reason: 'a configuration named behind an equals sign is read',
    commands: /^(pmrep|pcp2\w+)$/,
    applies: ({ words }) => words.some((word) => /^--con\w*=/.test(word)),
  },
  {
    reason: 'a report needs no help texts',
    commands: /^(pmrep|pcp2\w+)$/,
    applies: ({ words, both: { theirs } }) =>
      words.some((word) => word.startsWith('--include-te')) &&
      /^Invalid metric \S+ \(PM_ERR_NOTHOST/.test(theirs.stderr),
  },
  {
    reason: 'the limit of a metric specification counts',
    commands: /^(pmrep|pcp2csv)$/,
    applies: ({ words, difference: { channel, ours, theirs } }) =>
      channel === 'stdout' &&
      words.some((word) => /^[\w.]+(,[^,]*){6},-?\d+$/.test(word)) &&
      ours.includes('N/A') &&
      !theirs.includes('N/A'),
  },
  {
    reason: 'disk operations of 64-bit counters are shown',
    commands: /^(pmstat|pcp vmstat)$/,
    adapt: ({ ours, theirs }) => ({
      theirs,
      ours: { ...ours, stdout: withUnknownDisks(ours.stdout, theirs.stdout) },
    }),
  },
  {
    reason: 'pcp dstat names every plugin it leaves out',
    commands: /^pcp dstat$/,
    applies: ({ both: { ours, theirs } }) =>
      theirs.status === '1' && ours.status === '1' && theirs.stderr.includes('Invalid metric'),
  },
  {
    reason: 'screens of pcp atop, compared in pcp-atop.test.ts',
    commands: /^pcp atop$/,
    applies: ({ difference: { channel } }) => channel === 'stdout',
  },
  {
    reason: 'pcp atop does not report the end of an archive as an error',
    commands: /^pcp atop$/,
    adapt: ({ ours, theirs }) => ({
      ours,
      theirs: ours.status === '0' && theirs.status === '1' ? { ...theirs, status: '0' } : theirs,
    }),
  },
  {
    reason: 'pcp free shows the first available values',
    commands: /^pcp (free|ipcs|numastat)$/,
    applies: ({ both: { theirs }, difference }) =>
      difference.channel === 'stdout' && / 0\n| 0 +0\b/.test(theirs.stdout),
  },
  {
    reason: 'pcp uptime shows a question mark for missing values',
    commands: /^pcp uptime$/,
    applies: ({ both: { theirs } }) => theirs.stdout.includes('Unknown metric name'),
  },
  {
    reason: 'pmlogextract keeps descriptors of the parameters of event records',
    commands: /^pmlogextract$/,
    applies: ({ both: { ours }, difference: { channel } }) =>
      channel === 'files' && ours.files.includes('.event.'),
  },
  {
    reason: 'pmlogsize -v names files; the reference traces records',
    commands: /^pmlogsize$/,
    applies: ({ words }) => words.some((word) => /^(-v|--verb)/.test(word)),
  },
  {
    reason: 'pmlogsize -d counts labels and texts alone',
    commands: /^pmlogsize$/,
    adapt: onStdout((text) => text.replaceAll(/^(LABEL|TEXT): TODO.*\n/gm, '')),
  },
  {
    reason: "the reference's pmdiff splits times at blanks",
    commands: /^pmdiff$/,
    applies: ({ words, both: { theirs } }) =>
      words.some((word) => / /.test(word)) && theirs.stdout.includes('Warnings from pmlogsummary'),
  },
  {
    reason:
      'pmdiff compares negative averages, counters seen for a small part of the time, and no names twice',
    commands: /^pmdiff$/,
    applies: ({ both: { theirs }, difference: { channel } }) =>
      channel === 'stdout' && /^ {4}\*|-nan|^ {4}\S.* -\d\S* |^( {4}\S.*)\n\1$/m.test(theirs.stdout),
  },
  {
    reason: 'pmclient supports -T, and counts operations of 64-bit counters',
    commands: /^pmclient$/,
    applies: ({ words, both: { ours, theirs }, difference: { channel } }) =>
      channel === 'stdout' &&
      (words.some((word) => /^(-T|--finish)/.test(word)) ||
        withoutIops(ours.stdout) === withoutIops(theirs.stdout)),
  },
  {
    reason: 'times are exact, not floating point numbers',
    commands: /^(pminfo|pmprobe)$/,
    applies: ({ words, both: { theirs } }) =>
      words.some((word) => /^(-O|--origin)/.test(word)) &&
      /End of PCP archive log/.test(theirs.stdout + theirs.stderr),
  },
  {
    reason: 'a time has at most 999,999,999 nanoseconds',
    commands: /^(pmval|pmevent)$/,
    adapt: ({ ours, theirs }) => ({
      ours,
      theirs: { ...theirs, stdout: theirs.stdout.replaceAll(/\b(\d\d:\d\d:\d\d)\.1000/g, nextSecond) },
    }),
  },
  {
    reason: 'pmlogmv -N names files as 7.2 does',
    commands: /^pmlogmv$/,
    adapt: onStdout((text) => text.replaceAll('+ ln-or-cp ', '+ ln ')),
  },
]

/** Returns the next second: `22:13:25.000` of 22:13:24. */
function nextSecond(_: string, time: string): string {
  return `${new Date(Date.parse(`1970-01-01T${time}Z`) + 1000).toISOString().slice(11, 19)}.000`
}

/** Applies a change to both sides. */
function each(change: (done: Done) => Done): (both: Both) => Both {
  return ({ ours, theirs }) => ({ ours: change(ours), theirs: change(theirs) })
}

function onStdout(change: (text: string) => string): (both: Both) => Both {
  return each((done) => ({ ...done, stdout: change(done.stdout) }))
}

function onFiles(change: (text: string) => string): (both: Both) => Both {
  return each((done) => ({ ...done, files: change(done.files) }))
}

/** Removes messages that we write to standard error, and the reference to standard output. */
function movedMessages({ ours, theirs }: Both): Both {
  const printed = theirs.stdout.split('\n')
  const left: string[] = []
  for (const line of ours.stderr.split('\n')) {
    const at = line === '' ? -1 : printed.indexOf(line)
    if (at < 0) left.push(line)
    else printed.splice(at, 1)
  }
  return {
    ours: { ...ours, stderr: left.join('\n').trim() },
    theirs: { ...theirs, stdout: printed.join('\n'), stderr: theirs.stderr.trim() },
  }
}

/** Removes the heading of rows without data, to which the reference adds today's date. */
function withoutToday(text: string): string {
  return text.replaceAll(/^@ .*\n((?:.*\n){2}(?:\S+ +)? No data in the archive$)/gm, '@\n$1')
}

/** Maximum number of heading lines: a time and two of pmstat; names, instances and units of pmrep. */
const MAX_HEADINGS = 3

/** Returns whether ours consists only of headings with which the reference's begins. */
function hasOnlyHeadings(ours: Done, theirs: Done): boolean {
  const stamps = /^@ .*/gm
  const plain = ({ stdout, files }: Done): string => `${stdout}${files}`.replaceAll(stamps, '@').trimEnd()
  const mine = plain(ours)
  const headings = mine.replaceAll(/^Note: .*\n\n?/gm, '')
  return headings.split('\n').length <= MAX_HEADINGS && plain(theirs).startsWith(mine)
}

/** Removes operations from a row of pmclient: utilization, processor, its share, memory, operations, load. */
function withoutIops(text: string): string {
  return text.replaceAll(/^( \S+ +\S+ +\S+ +\S+ +)\S+/gm, '$1')
}

/** Column of `bi` in a line of pmstat. */
const BLOCKS_IN = 7

/** Adds question marks for disk operations to our lines of pmstat where the reference has them. */
function withUnknownDisks(ours: string, theirs: string): string {
  const others = theirs.split('\n')
  const cells = (line: string): string[] => line.split(/(?<=\S)(?= )/)
  return ours
    .split('\n')
    .map((line, i) => {
      const other = cells(others[i] ?? '')
      const own = cells(line)
      const unknown = (at: number): boolean => other[at]?.trim() === '?' && own[at] !== undefined
      return own.length === other.length
        ? own
            .map((cell, at) => ((at === BLOCKS_IN || at === BLOCKS_IN + 1) && unknown(at) ? other[at] : cell))
            .join('')
        : line
    })
    .join('\n')
}

/** Swaps the bytes of a 64-bit number if that makes it much smaller, as for counters of IRIX. */
function swapped(digits: string): string {
  const bytes = BigInt(digits).toString(16).padStart(16, '0').match(/../g)!
  const other = BigInt(`0x${bytes.reverse().join('')}`)
  return bytes.length === 8 && other < 1n << 40n ? String(other) : digits
}

/** Removes messages of pmlogcheck about wraps between two values that are small with swapped bytes. */
function withoutSwappedWraps(text: string): string {
  return text.replaceAll(
    /^.*: (?:un)?signed 64-bit wrap\n\tvalue (\d+) at .*\n\tvalue (\d+) at .*\n(?:\tdifference .*\n)?/gm,
    (wrap, before: string, value: string) =>
      swapped(before) !== before && swapped(value) !== value ? '' : wrap,
  )
}

const WENT_BACKWARDS = 'timestamp went backwards, prior timestamp: '

/** Removes counts, and the reference's message on its first record if it has one more such message than ours. */
function withoutEarlierRecords(both: Both): Both {
  const uncounted = each((done) => ({
    ...done,
    stderr: done.stderr.replaceAll(/^Processed \d+/gm, 'Processed N'),
  }))(both)
  const { ours, theirs } = uncounted
  const messages = ({ stderr }: Done): number => stderr.split(WENT_BACKWARDS).length
  if (messages(theirs) !== messages(ours) + 1) return uncounted
  const first = new RegExp(`^.*${WENT_BACKWARDS}.*\n`, 'm')
  return { ours, theirs: { ...theirs, stderr: theirs.stderr.replace(first, '') } }
}

function sortedLines(done: Done): Done {
  return { ...done, stdout: linesSorted(done.stdout), stderr: linesSorted(done.stderr) }
}

function linesSorted(text: string): string {
  return text.split('\n').sort().join('\n')
}

/** Returns the reasons of an intended difference, undefined for any other. Several may apply to one line. */
export function knownDifference(
  name: string,
  line: Line,
  both: Both,
  difference: Difference,
): string | undefined {
  const words = wordsOf(line)
  const rules = EXCUSES.filter(({ commands }) => commands?.test(name) !== false)
  const rule = rules.find(({ applies }) => applies?.({ both, difference, words }) === true)
  if (rule !== undefined) return rule.reason
  let adapted = both
  const reasons: string[] = []
  for (const { reason, adapt } of rules) {
    if (adapt === undefined) continue
    const next = adapt(adapted, words)
    if (differenceOf(adapted)?.signature !== differenceOf(next)?.signature) reasons.push(reason)
    adapted = next
    if (differenceOf(adapted) === undefined) return reasons.join('; ')
  }
  return undefined
}
