/** Options that reports share. Each says which key of configuration files it stands for. pmrep(1), pcp2json(1) */
import { HELP_ROW, type Option, VERSION_ROW } from '../options.ts'
import { STANDARD } from '../standard.ts'
import type { Settings } from './settings.ts'

/** An option that sets a key of configuration files. */
export interface ReportOption extends Option {
  readonly key: string
  /** What the key becomes, for an option without an argument. */
  readonly value?: string
}

/** Where values come from, and where the report goes. */
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

/** The file or directory of the configuration: read before any other option. */
export const CONFIG_ROW: Option = {
  short: 'c',
  long: 'config',
  arg: 'FILE',
  help: 'read the configuration from FILE, or from a directory',
}
/** Ends when everything was looked up. */
export const CHECK_ROW: Option = { short: 'C', long: 'check', help: 'look everything up, and end' }

/** When, and in which zone. */
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

/** The rows that end a table. */
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

/** Keys that only configuration files have, or only one exporter. */
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
  daemonize: row('', 'daemonize', 'daemonize', 'go on in the background behind the headings'),
  header: row('H', 'no-header', 'header', 'leave headings out', 'no'),
  unitinfo: row('U', 'no-unit-info', 'unitinfo', 'leave units out of headings', 'no'),
  csv_unitinfo: row('', 'csv-unit-info', 'csv_unitinfo', 'units in headings of CSV, too'),
  instinfo: row('', 'no-inst-info', 'instinfo', 'leave instances out of headings', 'no'),
  globals: row('G', 'no-globals', 'globals', 'leave the metrics of [global] out', 'no'),
  timestamp: row('p', 'timestamps', 'timestamp', 'begin lines with the time'),
  delay: row('d', 'delay', 'delay', 'replay archives as slowly as they were recorded'),
  type: row('r', 'raw', 'type', 'show counters as they are, not as rates', 'raw'),
  type_prefer: row(
    'R',
    'raw-prefer',
    'type_prefer',
    'show counters as they are unless a specification says otherwise',
    'raw',
  ),
  ignore_incompat: row(
    'I',
    'ignore-incompat',
    'ignore_incompat',
    'leave out metrics whose type or units do not fit',
  ),
  ignore_unknown: row('5', 'ignore-unknown', 'ignore_unknown', 'leave out metrics that nobody knows'),
  instances: withArgument(
    'i',
    'instances',
    'instances',
    'LIST',
    'show these instances: names, patterns, process numbers',
  ),
  live_filter: row('j', 'live-filter', 'live_filter', 'choose instances anew for every sample'),
  rank: withArgument(
    'J',
    'rank',
    'rank',
    'N',
    'show the N highest values of each metric, or with -N the lowest',
  ),
  overall_rank: row('2', 'overall-rank', 'overall_rank', 'rank over all samples, and show only that'),
  overall_rank_alt: row('3', 'overall-rank-alt', 'overall_rank_alt', 'the same, as metric specifications'),
  names_change: withArgument(
    '4',
    'names-change',
    'names_change',
    'ACTION',
    'when metrics come or go: ignore, abort or update',
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
    'the same, whatever specifications say',
  ),
  invert_filter: row('n', 'invert-filter', 'invert_filter', 'rank first, choose instances then'),
  predicate: withArgument(
    'N',
    'predicate',
    'predicate',
    'METRICS',
    'show only instances that these metrics show',
  ),
  sort_metric: withArgument(
    '6',
    'sort-metric',
    'sort_metric',
    'METRIC',
    'sort lines by its values, with -METRIC ascending',
  ),
  omit_flat: row('v', 'omit-flat', 'omit_flat', 'leave out metrics without instances'),
  include_labels: row('m', 'include-labels', 'include_labels', 'show labels'),
  include_texts: row('', 'include-texts', 'include_texts', 'write help texts into archives'),
  colxrow: withArgument(
    'X',
    'colxrow',
    'colxrow',
    'TEXT',
    'a line for each instance, TEXT above their names',
  ),
  width: withArgument('w', 'width', 'width', 'N', 'width of columns'),
  width_force: withArgument('W', 'width-force', 'width_force', 'N', 'the same, whatever specifications say'),
  precision: withArgument(
    'P',
    'precision',
    'precision',
    'N',
    'digits behind the point, 3 unless said otherwise',
  ),
  precision_force: withArgument(
    '0',
    'precision-force',
    'precision_force',
    'N',
    'the same, whatever specifications say',
  ),
  delimiter: withArgument('l', 'delimiter', 'delimiter', 'TEXT', 'what stands between columns'),
  extcsv: row('k', 'extended-csv', 'extcsv', 'host and interval in CSV'),
  extheader: row('x', 'extended-header', 'extheader', 'begin with source, times and numbers'),
  fixed_header: row('7', 'fixed-header', 'fixed_header', 'headings once, lines for instances that are there'),
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
    'new headings when metrics or instances change',
  ),
  separate_header: row(
    'g',
    'separate-header',
    'separate_header',
    'number columns, and tell before what they are',
  ),
  timefmt: withArgument('f', 'timestamp-format', 'timefmt', 'FORMAT', 'how times look, as in strftime(3)'),
  interpol: row('u', 'no-interpol', 'interpol', 'show the records of archives as they are', 'no'),
  count_scale: withArgument('q', 'count-scale', 'count_scale', 'UNIT', 'unit for counts'),
  count_scale_force: withArgument(
    'Q',
    'count-scale-force',
    'count_scale_force',
    'UNIT',
    'the same, whatever specifications say',
  ),
  space_scale: withArgument('b', 'space-scale', 'space_scale', 'UNIT', 'unit for sizes'),
  space_scale_force: withArgument(
    'B',
    'space-scale-force',
    'space_scale_force',
    'UNIT',
    'the same, whatever specifications say',
  ),
  time_scale: withArgument('y', 'time-scale', 'time_scale', 'UNIT', 'unit for times'),
  time_scale_force: withArgument(
    'Y',
    'time-scale-force',
    'time_scale_force',
    'UNIT',
    'the same, whatever specifications say',
  ),
}
