/** Command-line options of pmlogdump. pmlogdump(1) */
import { HELP_ROW, type OptionTable, type ParsedOptions, VERSION_ROW } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options] [archive [metricname ...]]',
  rows: [
    { heading: 'Options' },
    { short: 'a', long: 'all', help: 'show everything but labels and help texts' },
    { short: 'd', long: 'descs', help: 'show the descriptors of metrics' },
    { short: 'e', long: 'labelsets', help: 'show the labels of metrics' },
    { short: 'h', long: 'helptext', help: 'show the help texts of metrics' },
    { short: 'I', long: 'on-disk-insts', help: 'show instance domains as stored' },
    { short: 'i', long: 'insts', help: 'show instance domains' },
    { short: 'L', help: "show the archive's complete label" },
    { short: 'l', long: 'label', help: "show the archive's label" },
    { short: 'M', long: 'markrecs', help: 'show marks even if metrics are named' },
    { short: 'm', long: 'metrics', help: 'show the values of metrics (the default)' },
    STANDARD.namespace,
    { short: 'r', long: 'reverse', help: 'show the newest values first' },
    STANDARD.start,
    { short: 's', long: 'sizes', help: 'show the size of each record' },
    STANDARD.finish,
    { short: 't', help: 'show the temporal index' },
    { short: 'v', arg: 'FILE', help: 'show the bytes of one file, record by record' },
    { short: 'x', help: 'show dates; -xx also relative times, -xxx also seconds since 1970' },
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** What to print. */
export interface DumpOptions {
  readonly descs: boolean
  readonly labels: boolean
  readonly texts: boolean
  readonly storedIndoms: boolean
  readonly indoms: boolean
  readonly label: 'brief' | 'all' | undefined
  readonly index: boolean
  readonly values: boolean
  readonly marks: boolean
  readonly sizes: boolean
  readonly reverse: boolean
  /** Detail of times, 0 to 3. */
  readonly stampDetail: number
  /** -v: the file for a raw dump. */
  readonly rawFile: string | undefined
}

/** Reads the options. The default is to print values; `-a` selects many sections. */
export function dumpOptions({ given }: Pick<ParsedOptions, 'given'>): DumpOptions {
  const all = given.some(({ name }) => name === 'a')
  const has = (name: string): boolean => given.some((option) => option.name === name)
  const sections = [...'adehIilLmtv'].some(has)
  return {
    descs: all || has('d'),
    labels: has('e'),
    texts: has('h'),
    storedIndoms: has('I'),
    indoms: all || has('i'),
    label: all || has('L') ? 'all' : has('l') ? 'brief' : undefined,
    index: all || has('t'),
    values: all || has('m') || !sections,
    marks: has('M'),
    sizes: all || has('s'),
    reverse: has('r'),
    stampDetail: Math.min(3, given.filter(({ name }) => name === 'x').length),
    rawFile: given.findLast(({ name }) => name === 'v')?.value,
  }
}
