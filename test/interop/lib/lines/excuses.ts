/** Differences that are deliberate: docs/differences.md has their reasons. */
import type { Both, Done } from './both-sides.ts'
import { type Difference, differenceOf } from './difference.ts'
import { type Line, wordsOf } from './line.ts'

/** What a rule sees of a line that differs. */
interface Context {
  readonly both: Both
  readonly difference: Difference
  readonly words: readonly string[]
}

/** A deliberate difference: where it applies, or what of both sides' output it is about. */
interface Excuse {
  readonly reason: string
  /** Commands it is about, as `pmval` or `pcp free`; all without it. */
  readonly commands?: RegExp
  /** Whether a line differs by it alone. */
  readonly applies?: (context: Context) => boolean
  /** Takes the difference out of a side's output: the sides agree after it. */
  readonly adapt?: (done: Done) => Done
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
    reason:
      'descriptors, instance domains and files are sorted, not in the order of a hash table or directory',
    commands: /^(pmdumplog|pmlogcheck|pmlogsize)$/,
    adapt: sortedLines,
  },
  {
    reason: 'sockets come in the order of the archive',
    commands: /^pcp ss$/,
    adapt: sortedLines,
  },
  {
    reason: 'an option that 6.0.3 lacks',
    applies: ({ both: { ours, theirs } }) =>
      /(unrecognized|invalid) option/.test(theirs.stderr) &&
      !/(unrecognized|invalid) option/.test(ours.stderr),
  },
  {
    reason: 'mistakes go to standard error',
    commands: /^(pcp|pmrep)/,
    adapt: ({ status, stdout, stderr, files }) => ({
      status,
      stdout: linesSorted(stdout + stderr),
      stderr: '',
      files,
    }),
  },
  {
    reason: 'pmie ends with status 1 after any mistake in rules',
    commands: /^pmie$/,
    applies: ({ both: { ours }, difference }) =>
      difference.channel === 'status' && ours.status === '1' && /error/.test(ours.stderr),
  },
  {
    reason: 'pmlogextract -T is exact',
    commands: /^pmlogextract$/,
    applies: ({ words, difference }) =>
      difference.channel === 'files' && words.some((word) => /^(-T|--finish)/.test(word)),
  },
  {
    reason: 'texts of event.flags and event.missed are our own',
    commands: /^pminfo$/,
    applies: ({ difference }) => /event record/.test(difference.ours),
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
    adapt: (done) => {
      const { stdout } = onStdout((text) => text.replaceAll(/^ No data in the archive\n/gm, ''))(done)
      return { ...done, stdout, status: '' }
    },
  },
  {
    reason: 'pcp free shows the first values there are',
    commands: /^pcp (free|ipcs|numastat)$/,
    applies: ({ both: { theirs }, difference }) =>
      difference.channel === 'stdout' && /\b0( +0){3,}/.test(theirs.stdout),
  },
  {
    reason: 'pcp dstat leaves out a plugin whose metrics are not known; the reference shows nothing',
    commands: /^pcp dstat$/,
    applies: ({ both: { ours, theirs } }) =>
      theirs.stdout === '' &&
      theirs.status === '1' &&
      ours.status === '1' &&
      theirs.stderr.includes('Invalid metric'),
  },
  {
    reason: 'pcp uptime has a question mark for what an archive lacks',
    commands: /^pcp uptime$/,
    applies: ({ both: { theirs } }) => theirs.stdout.includes('Unknown metric name'),
  },
  {
    reason: 'pmlogextract keeps descriptors of the parameters of event records',
    commands: /^pmlogextract$/,
    adapt: (done) => ({
      ...done,
      files: done.files.replaceAll(/^PMID: [\d.]+ \([^\n]*\.event\.[^\n]*\n( [^\n]*\n)*/gm, ''),
    }),
  },
  {
    reason: 'pmlogsize -v names files; the reference traces records',
    commands: /^pmlogsize$/,
    applies: ({ words }) => words.some((word) => /^(-v|--verb)/.test(word)),
  },
  {
    reason: 'pmclient heeds -T, and counts operations of 64-bit counters',
    commands: /^pmclient$/,
    applies: ({ words, both: { ours, theirs }, difference: { channel } }) =>
      channel === 'stdout' &&
      (words.some((word) => /^(-T|--finish)/.test(word)) ||
        withoutIops(ours.stdout) === withoutIops(theirs.stdout)),
  },
  {
    reason: 'moments are exact, not floating point numbers',
    commands: /^(pminfo|pmprobe)$/,
    applies: ({ words, both: { theirs } }) =>
      words.some((word) => /^(-O|--origin)/.test(word)) &&
      /End of PCP archive log/.test(theirs.stdout + theirs.stderr),
  },
  {
    reason: 'pmlogmv -N names files as 7.2 does',
    commands: /^pmlogmv$/,
    adapt: onStdout((text) => text.replaceAll('+ ln-or-cp ', '+ ln ')),
  },
]

function onStdout(change: (text: string) => string): (done: Done) => Done {
  return (done) => ({ ...done, stdout: change(done.stdout) })
}

/** A row of pmclient: utilisation, processor, its share, memory, operations, load. */
function withoutIops(text: string): string {
  return text.replaceAll(/^( \S+ +\S+ +\S+ +\S+ +)\S+/gm, '$1')
}

function sortedLines(done: Done): Done {
  return { ...done, stdout: linesSorted(done.stdout), stderr: linesSorted(done.stderr) }
}

function linesSorted(text: string): string {
  return text.split('\n').sort().join('\n')
}

/** Returns the reason of a deliberate difference, undefined for any other. */
export function excuseFor(name: string, line: Line, both: Both, difference: Difference): string | undefined {
  const words = wordsOf(line)
  return EXCUSES.find(({ commands, applies, adapt }) => {
    if (commands?.test(name) === false) return false
    if (adapt !== undefined)
      return differenceOf({ ours: adapt(both.ours), theirs: adapt(both.theirs) }) === undefined
    return applies?.({ both, difference, words }) === true
  })?.reason
}
