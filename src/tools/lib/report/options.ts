/** Options shared by reports, each for one key of configuration files. pmrep(1), pcp2json(1) */
import { HELP_ROW, type Option, VERSION_ROW } from '../options.ts'
import { STANDARD } from '../standard.ts'
import type { Settings } from './settings.ts'

/** An option that sets a key of configuration files. */
export interface ReportOption extends Option {
  readonly key: string
  /** Value of the key for an option without an argument. */
  readonly value?: string
}

/** Options for the source of values and the destination of the report. */
export const SOURCE_ROWS: readonly Option[] = [
  STANDARD.archive,
  STANDARD.archiveList,
  STANDARD.archiveFolio,
  STANDARD.container,
  STANDARD.host,
  STANDARD.localPmda,
  STANDARD.specLocal,
  STANDARD.debug,
]

/** The configuration file or directory, which is read before other options. */
export const CONFIG_ROW: Option = {
  short: 'c',
  long: 'config',
  arg: 'FILE',
  help: 'read the configuration from FILE, or from a directory',
}
/** Exits after all metrics are resolved. */
export const CHECK_ROW: Option = {
  short: 'C',
  long: 'check',
  help: 'check options, configuration and metrics, and exit',
}

/** Options for sampling times and zone. */
export const TIME_ROWS: readonly Option[] = [
  STANDARD.align,
  STANDARD.start,
  STANDARD.finish,
  STANDARD.origin,
  STANDARD.samples,
  STANDARD.interval,
  STANDARD.timezone,
  STANDARD.hostzone,
]

/** The last rows of a table. */
export const END_ROWS: readonly Option[] = [VERSION_ROW, HELP_ROW]

const row = (short: string, long: string, key: string, help: string, value = 'yes'): ReportOption => ({
  ...(short === '' ? {} : { short }),
  long,
  key,
  value,
  help,
})
const withArgument = (short: string, long: string, key: string, arg: string, help: string): ReportOption => ({
  ...(short === '' ? {} : { short }),
  long,
  key,
  arg,
  help,
})

/** Keys without an option here: only in configuration files, or of a single exporter. */
type Elsewhere =
  | 'problems'
  | 'source'
  | 'speclocal'
  | 'samples'
  | 'interval'
  | 'extended'
  | 'everything'
  | 'exact_types'
  | 'times'
  | 'no_comment'
  | 'file_format'
  | 'url'
  | 'http_timeout'
  | 'http_user'
  | 'http_pass'
  | 'destination'

/** Options by key. */
export const REPORT_OPTIONS: Readonly<Record<Exclude<keyof Settings, Elsewhere>, ReportOption>> = {
  output: withArgument(
    'o',
    'output',
    'output',
    'TARGET',
    'write to stdout (the default), csv, json or archive',
  ),
  output_file: withArgument('F', 'output-file', 'output_file', 'FILE', 'write to FILE, which must not exist'),
  derived: withArgument('e', 'derived', 'derived', 'FILE|NAME=EXPR', 'define derived metrics'),
  daemonize: row('', 'daemonize', 'daemonize', 'continue in the background after the headings'),
  header: row('H', 'no-header', 'header', 'leave headings out', 'no'),
  unitinfo: row('U', 'no-unit-info', 'unitinfo', 'leave units out of headings', 'no'),
  csv_unitinfo: row('', 'csv-unit-info', 'csv_unitinfo', 'show units in CSV headings'),
  instinfo: row('', 'no-inst-info', 'instinfo', 'leave instances out of headings', 'no'),
  globals: row('G', 'no-globals', 'globals', 'leave the metrics of [global] out', 'no'),
  timestamp: row('p', 'timestamps', 'timestamp', 'begin lines with the time'),
  delay: row('d', 'delay', 'delay', 'replay archives in real time'),
  type: row('r', 'raw', 'type', 'show raw counters instead of rates', 'raw'),
  type_prefer: row(
    'R',
    'raw-prefer',
    'type_prefer',
    'show raw counters unless a specification has another type',
    'raw',
  ),
  ignore_incompat: row(
    'I',
    'ignore-incompat',
    'ignore_incompat',
    'leave out metrics with unsuitable type or units',
  ),
  ignore_unknown: row('5', 'ignore-unknown', 'ignore_unknown', 'leave out unknown metrics'),
  instances: withArgument(
    'i',
    'instances',
    'instances',
    'LIST',
    'show these instances: names, patterns, process numbers',
  ),
  live_filter: row('j', 'live-filter', 'live_filter', 'select instances again for every sample'),
  rank: withArgument(
    'J',
    'rank',
    'rank',
    'N',
    'show the N highest values of each metric, or with -N the lowest',
  ),
  overall_rank: row('2', 'overall-rank', 'overall_rank', 'rank over all samples, and show only the result'),
  overall_rank_alt: row(
    '3',
    'overall-rank-alt',
    'overall_rank_alt',
    'the same, printed as metric specifications',
  ),
  names_change: withArgument(
    '4',
    'names-change',
    'names_change',
    'ACTION',
    'when metrics appear or vanish: ignore, abort or update',
  ),
  limit_filter: withArgument(
    '8',
    'limit-filter',
    'limit_filter',
    'N',
    'show values of N and more, or with -N of N and less',
  ),
  limit_filter_force: withArgument(
    '9',
    'limit-filter-force',
    'limit_filter_force',
    'N',
    'the same, overriding specifications',
  ),
  invert_filter: row('n', 'invert-filter', 'invert_filter', 'rank before selecting instances'),
  predicate: withArgument(
    'N',
    'predicate',
    'predicate',
    'METRICS',
    'show only instances that these metrics have',
  ),
  sort_metric: withArgument(
    '6',
    'sort-metric',
    'sort_metric',
    'METRIC',
    'sort lines by METRIC, or ascending by -METRIC',
  ),
  omit_flat: row('v', 'omit-flat', 'omit_flat', 'leave out metrics without instances'),
  include_labels: row('m', 'include-labels', 'include_labels', 'show labels'),
  include_texts: row('', 'include-texts', 'include_texts', 'write help texts into archives'),
  colxrow: withArgument('X', 'colxrow', 'colxrow', 'TEXT', 'one line for each instance, headed TEXT'),
  width: withArgument('w', 'width', 'width', 'N', 'width of columns'),
  width_force: withArgument('W', 'width-force', 'width_force', 'N', 'the same, overriding specifications'),
  precision: withArgument('P', 'precision', 'precision', 'N', 'decimals (default 3)'),
  precision_force: withArgument(
    '0',
    'precision-force',
    'precision_force',
    'N',
    'the same, overriding specifications',
  ),
  delimiter: withArgument('l', 'delimiter', 'delimiter', 'TEXT', 'text between columns'),
  extcsv: row('k', 'extended-csv', 'extcsv', 'add host and interval to CSV'),
  extheader: row('x', 'extended-header', 'extheader', 'begin with source, times and counts'),
  fixed_header: row(
    '7',
    'fixed-header',
    'fixed_header',
    'print headings once, and lines only for existing instances',
  ),
  repeat_header: withArgument(
    'E',
    'repeat-header',
    'repeat_header',
    'N',
    'repeat headings after N samples, or auto',
  ),
  dynamic_header: row(
    '1',
    'dynamic-header',
    'dynamic_header',
    'repeat headings when metrics or instances change',
  ),
  separate_header: row(
    'g',
    'separate-header',
    'separate_header',
    'number the columns and explain them in a legend',
  ),
  timefmt: withArgument('f', 'timestamp-format', 'timefmt', 'FORMAT', 'format of times, as in strftime(3)'),
  interpol: row('u', 'no-interpol', 'interpol', 'do not interpolate the records of archives', 'no'),
  count_scale: withArgument('q', 'count-scale', 'count_scale', 'UNIT', 'unit for counts'),
  count_scale_force: withArgument(
    'Q',
    'count-scale-force',
    'count_scale_force',
    'UNIT',
    'the same, overriding specifications',
  ),
  space_scale: withArgument('b', 'space-scale', 'space_scale', 'UNIT', 'unit for sizes'),
  space_scale_force: withArgument(
    'B',
    'space-scale-force',
    'space_scale_force',
    'UNIT',
    'the same, overriding specifications',
  ),
  time_scale: withArgument('y', 'time-scale', 'time_scale', 'UNIT', 'unit for times'),
  time_scale_force: withArgument(
    'Y',
    'time-scale-force',
    'time_scale_force',
    'UNIT',
    'the same, overriding specifications',
  ),
}
