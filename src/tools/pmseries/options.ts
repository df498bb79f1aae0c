/** The command line of pmseries. */
import { HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'

/** The option table. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] [query ... | labels ... | series ... | source ...]',
  operands: 'none',
  rows: [
    { heading: 'Source options' },
    { long: 'directory', arg: 'DIR', help: 'read the archives below DIR; may be given several times' },
    { short: 'c', long: 'config', arg: 'FILE' },
    { short: 'h', long: 'host', arg: 'HOST' },
    { short: 'p', long: 'port', arg: 'PORT', kind: 'none' },
    { heading: 'General options' },
    { short: 'L', long: 'load' },
    { short: 'q', long: 'query', help: 'answer a query (default)' },
    { short: 'v', long: 'values', help: 'show values of series with -w, or of labels' },
    { heading: 'Reporting options' },
    { short: 'a', long: 'all', help: 'show everything about series, as -dilms' },
    { short: 'd', long: 'desc', help: 'show descriptors of series' },
    { short: 'I', long: 'fullindom', help: 'show instance domains in three notations' },
    { short: 'i', long: 'instances', help: 'show instances of series, or all names of instances' },
    { short: 'F', long: 'fast', help: 'show everything about the series of a query, without values' },
    { short: 'g', long: 'glob', arg: 'PATTERN', kind: 'none', help: 'show only names that match PATTERN' },
    { short: 'l', long: 'labels', help: 'show labels of series, or all names of labels' },
    { short: 'M', long: 'fullpmid', help: 'show PMIDs in three notations' },
    { short: 'm', long: 'metrics', help: 'show metrics of series, or all names of metrics' },
    { short: 'n', long: 'names', help: 'show names of labels without their values' },
    { short: 'S', long: 'sources', help: 'show archives and hosts of sources, or of all' },
    { short: 's', long: 'series', help: 'show sources of series' },
    { short: 't', long: 'times', help: 'show times in milliseconds since 1970' },
    {
      short: 'w',
      long: 'window',
      arg: 'WINDOW',
      kind: 'none',
      help: 'show values of series in WINDOW, such as count:5 or start:"-1hour"',
    },
    { short: 'Z', long: 'timezone', arg: 'TZ', kind: 'none', help: 'show times in this zone' },
    VERSION_ROW,
    HELP_ROW,
  ],
}
