/** Command-line options and columns of pmlogsummary. pmlogsummary(1) */
import { HELP_ROW, type OptionTable, type ParsedOptions, VERSION_ROW } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options] archive [metricname ...]',
  rows: [
    { heading: 'Options' },
    { short: 'a', long: 'all', help: 'show all columns, like -blmMy' },
    { short: 'b', long: 'both', help: 'show stochastic and time averages' },
    { short: 'B', long: 'bins', arg: 'N', help: 'show the distribution of values over N bins' },
    { short: 'f', help: 'separate columns by tabs' },
    { short: 'F', help: 'separate columns by commas' },
    { short: 'H', long: 'header', help: 'begin with column headings' },
    { short: 'i', long: 'mintime', help: 'show the time of the smallest value' },
    { short: 'I', long: 'maxtime', help: 'show the time of the largest value' },
    { short: 'l', long: 'label', help: 'begin with the label and the time window' },
    { short: 'm', long: 'minimum', help: 'show the smallest value' },
    { short: 'M', long: 'maximum', help: 'show the largest value' },
    STANDARD.namespace,
    { short: 'N', help: 'do not report unreadable values (default)' },
    { short: 'p', long: 'precision', arg: 'N', help: 'show N digits after the point [3]' },
    { short: 's', long: 'sum', help: 'show sums instead of averages' },
    STANDARD.start,
    STANDARD.finish,
    { short: 'v', long: 'verbose', help: 'report unreadable values' },
    { short: 'x', help: 'show stochastic averages only' },
    { short: 'y', long: 'samples', help: 'show the number of values' },
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Columns and their format. */
export interface SummaryOptions {
  stochastic: boolean
  time: boolean
  sum: boolean
  minimum: boolean
  minimumTime: boolean
  maximum: boolean
  maximumTime: boolean
  count: boolean
  /** 0 for none. */
  bins: number
  label: boolean
  header: boolean
  delimiter: ' ' | '\t' | ','
  precision: number
  verbose: boolean
}

/** Reads the options in order: a sum cancels earlier column options, averages cancel a sum. */
export function summaryOptions({
  given,
  problems,
}: Pick<ParsedOptions, 'given' | 'problems'>): SummaryOptions {
  const wanted: SummaryOptions = {
    ...NO_COLUMNS,
    time: true,
    bins: 0,
    header: false,
    delimiter: ' ',
    precision: 3,
    verbose: false,
  }
  for (const { name, value } of given) {
    const changes = CHANGES[name]
    if (changes !== undefined) Object.assign(wanted, changes)
    else if (name === 'B') {
      if (/^\s*\+?\d+$/.test(value) && Number(value) > 0) wanted.bins = Number(value)
      else problems.push('-B requires positive numeric argument')
    } else if (name === 'p') {
      if (/^\s*\+?\d+$/.test(value)) wanted.precision = Math.min(99, Number(value))
      else problems.push('-p requires numeric argument')
    }
  }
  return wanted
}

const NO_COLUMNS = {
  stochastic: false,
  time: false,
  sum: false,
  minimum: false,
  minimumTime: false,
  maximum: false,
  maximumTime: false,
  count: false,
  label: false,
} as const

const CHANGES: { readonly [letter: string]: Partial<SummaryOptions> } = {
  a: { stochastic: true, time: true, sum: false, minimum: true, maximum: true, count: true, label: true },
  b: { stochastic: true, time: true, sum: false },
  f: { delimiter: '\t' },
  F: { delimiter: ',' },
  H: { header: true },
  i: { minimumTime: true },
  I: { maximumTime: true },
  l: { label: true },
  m: { minimum: true },
  M: { maximum: true },
  N: { verbose: false },
  s: {
    stochastic: false,
    time: false,
    minimum: false,
    maximum: false,
    count: false,
    label: false,
    sum: true,
  },
  v: { verbose: true },
  x: { stochastic: true, time: false, sum: false },
  y: { count: true },
}
