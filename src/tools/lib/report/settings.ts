/** What a report may be told, by configuration files and options alike: one table of keys. pmrep.conf(5) */
import { PcpError } from '../../../model/errors.ts'

/** Everything a report may be told. Keys of configuration files have the same names, with underscores. */
export interface Settings {
  source: string | undefined
  speclocal: string | undefined
  samples: string | undefined
  interval: string | undefined
  output: string
  output_file: string
  derived: string[]
  daemonize: boolean
  header: boolean
  unitinfo: boolean
  csv_unitinfo: boolean
  instinfo: boolean
  globals: boolean
  timestamp: boolean
  delay: boolean
  /** All counters as they are. */
  type: boolean
  type_prefer: boolean
  ignore_incompat: boolean
  ignore_unknown: boolean
  instances: readonly string[]
  live_filter: boolean
  rank: number
  overall_rank: boolean
  overall_rank_alt: boolean
  names_change: NamesChange
  limit_filter: number
  limit_filter_force: number
  invert_filter: boolean
  predicate: readonly string[]
  sort_metric: string | undefined
  omit_flat: boolean
  include_labels: boolean
  include_texts: boolean
  /** Heading of the column of instances; undefined: instances are columns. */
  colxrow: string | undefined
  width: number
  width_force: number | undefined
  precision: number
  precision_force: number | undefined
  delimiter: string | undefined
  extcsv: boolean
  extheader: boolean
  fixed_header: boolean
  /** Samples until headings are repeated; 0: never; 'auto': as the terminal is high. */
  repeat_header: number | 'auto'
  dynamic_header: boolean
  separate_header: boolean
  timefmt: string | undefined
  interpol: boolean
  count_scale: string | undefined
  count_scale_force: string | undefined
  space_scale: string | undefined
  space_scale_force: string | undefined
  time_scale: string | undefined
  time_scale_force: string | undefined
  /** Semantics and types besides values: exporters. */
  extended: boolean
  /** All there is to know besides values: exporters. */
  everything: boolean
  /** Numbers as numbers in JSON. */
  exact_types: boolean
  /** Times beside values: pcp2openmetrics. */
  times: boolean
  no_comment: boolean
  /** Format of files: pcp2arrow. */
  file_format: string | undefined
  url: string | undefined
  http_timeout: number
  http_user: string | undefined
  http_pass: string | undefined
  /** Errors of values that do not fit, by key; `checkValues` throws them. */
  readonly problems: Map<string, PcpError>
}

/** What happens when metrics come or go. */
export type NamesChange = 'ignore' | 'abort' | 'update'

/** What a report does unless it is told otherwise. */
export function defaultSettings(): Settings {
  return {
    source: undefined,
    speclocal: undefined,
    samples: undefined,
    interval: undefined,
    output: 'stdout',
    output_file: '',
    derived: [],
    daemonize: false,
    header: true,
    unitinfo: true,
    csv_unitinfo: false,
    instinfo: true,
    globals: true,
    timestamp: false,
    delay: false,
    type: false,
    type_prefer: false,
    ignore_incompat: false,
    ignore_unknown: false,
    instances: [],
    live_filter: false,
    rank: 0,
    overall_rank: false,
    overall_rank_alt: false,
    names_change: 'ignore',
    limit_filter: 0,
    limit_filter_force: 0,
    invert_filter: false,
    predicate: [],
    sort_metric: undefined,
    omit_flat: false,
    include_labels: false,
    include_texts: false,
    colxrow: undefined,
    width: 0,
    width_force: undefined,
    precision: 3,
    precision_force: undefined,
    delimiter: undefined,
    extcsv: false,
    extheader: false,
    fixed_header: false,
    repeat_header: 0,
    dynamic_header: false,
    separate_header: false,
    timefmt: undefined,
    interpol: true,
    count_scale: undefined,
    count_scale_force: undefined,
    space_scale: undefined,
    space_scale_force: undefined,
    time_scale: undefined,
    time_scale_force: undefined,
    extended: false,
    everything: false,
    exact_types: false,
    times: false,
    no_comment: false,
    file_format: undefined,
    url: undefined,
    http_timeout: 2.5,
    http_user: undefined,
    http_pass: undefined,
    problems: new Map(),
  }
}

type Setter = (settings: Settings, value: string, key: string) => void
type KeysOf<T> = { [K in keyof Settings]-?: Settings[K] extends T ? K : never }[keyof Settings]

const flag =
  (field: KeysOf<boolean>): Setter =>
  (settings, value) => {
    settings[field] = truth(value)
  }
const text =
  (field: Exclude<KeysOf<string | undefined>, 'names_change'>): Setter =>
  (settings, value) => {
    settings[field] = value
  }
const count =
  (field: KeysOf<number | undefined>): Setter =>
  (settings, value, key) => {
    const number = naturalNumber(settings, value, key)
    if (number !== undefined) settings[field] = number
  }
const integer =
  (field: KeysOf<number>): Setter =>
  (settings, value, key) => {
    if (fits(settings, key, /^\s*[+-]?\d+\s*$/.test(value), 'Integer expected'))
      settings[field] = Number(value)
  }

/** Words and numbers for what happens when metrics come or go. */
const NAMES_CHANGES: Readonly<Record<string, NamesChange>> = {
  ignore: 'ignore',
  '0': 'ignore',
  abort: 'abort',
  '1': 'abort',
  update: 'update',
  '2': 'update',
}

/** Keys by name, and what each does. */
const KEYS: Readonly<Record<string, Setter>> = {
  version: (_, value) => {
    if (value !== '1')
      throw new PcpError(
        'PM_ERR_GENERIC',
        `Incompatible configuration file version (read v${value}, need v1).`,
      )
  },
  source: text('source'),
  speclocal: text('speclocal'),
  samples: text('samples'),
  interval: text('interval'),
  output: (settings, value) => {
    if (['stdout', 'csv', 'archive', 'json'].includes(value)) {
      settings.problems.delete('output')
      settings.output = value
    } else {
      const why = 'Error while parsing options: Invalid output target specified.'
      settings.problems.set('output', new PcpError('PM_ERR_GENERIC', why))
    }
  },
  output_file: text('output_file'),
  derived: (settings, value) => {
    settings.derived.push(...value.split(value.includes(';') ? ';' : ','))
  },
  daemonize: flag('daemonize'),
  header: flag('header'),
  unitinfo: flag('unitinfo'),
  csv_unitinfo: flag('csv_unitinfo'),
  instinfo: flag('instinfo'),
  globals: flag('globals'),
  timestamp: flag('timestamp'),
  delay: flag('delay'),
  type: (settings, value) => {
    settings.type = value === 'raw' || truth(value)
  },
  type_prefer: (settings, value) => {
    settings.type_prefer = value === 'raw' || truth(value)
  },
  ignore_incompat: flag('ignore_incompat'),
  ignore_unknown: flag('ignore_unknown'),
  instances: (settings, value) => {
    settings.instances = splitList(value)
  },
  live_filter: flag('live_filter'),
  rank: integer('rank'),
  overall_rank: flag('overall_rank'),
  overall_rank_alt: flag('overall_rank_alt'),
  names_change: (settings, value) => {
    const change = NAMES_CHANGES[value]
    if (change === undefined)
      throw new PcpError('PM_ERR_GENERIC', `Unknown names-change action '${value}' specified.`)
    settings.names_change = change
    if (change === 'update') settings.dynamic_header = true
  },
  limit_filter: integer('limit_filter'),
  limit_filter_force: integer('limit_filter_force'),
  invert_filter: flag('invert_filter'),
  predicate: (settings, value) => {
    settings.predicate = value.split(',').filter((name) => name !== '')
  },
  sort_metric: text('sort_metric'),
  omit_flat: flag('omit_flat'),
  include_labels: flag('include_labels'),
  include_texts: flag('include_texts'),
  colxrow: text('colxrow'),
  width: count('width'),
  width_force: count('width_force'),
  precision: count('precision'),
  precision_force: count('precision_force'),
  delimiter: text('delimiter'),
  extcsv: flag('extcsv'),
  extheader: flag('extheader'),
  fixed_header: flag('fixed_header'),
  repeat_header: (settings, value, key) => {
    const lines = naturalNumber(settings, value === 'auto' ? '0' : value, key)
    if (lines !== undefined) settings.repeat_header = value === 'auto' ? 'auto' : lines
  },
  dynamic_header: flag('dynamic_header'),
  separate_header: flag('separate_header'),
  timefmt: text('timefmt'),
  interpol: flag('interpol'),
  count_scale: text('count_scale'),
  count_scale_force: text('count_scale_force'),
  space_scale: text('space_scale'),
  space_scale_force: text('space_scale_force'),
  time_scale: text('time_scale'),
  time_scale_force: text('time_scale_force'),
  extended: flag('extended'),
  everything: flag('everything'),
  exact_types: flag('exact_types'),
  times: flag('times'),
  no_comment: flag('no_comment'),
  file_format: text('file_format'),
  url: text('url'),
  http_timeout: (settings, value, key) => {
    const seconds = Number(value)
    if (!(seconds > 0)) throw badOption(key, 'Number expected')
    settings.http_timeout = seconds
  },
  http_user: text('http_user'),
  http_pass: text('http_pass'),
}

/** Is this the name of a setting? */
export function isSetting(key: string): boolean {
  return Object.hasOwn(KEYS, key)
}

/** Sets what a key says. PM_ERR_GENERIC with the line to print for a value that does not fit. */
export function applySetting(settings: Settings, key: string, value: string): void {
  KEYS[key]?.(settings, value, key)
}

/** Keys whose values are checked once the source is open, in this order. */
const CHECKED_LATE = [
  'rank',
  'limit_filter',
  'limit_filter_force',
  'width',
  'width_force',
  'precision',
  'precision_force',
  'repeat_header',
  'output',
] as const

/** Throws the first error of a value that did not fit: PM_ERR_GENERIC with the line to print. */
export function checkValues({ problems }: Settings): void {
  for (const key of CHECKED_LATE) {
    const problem = problems.get(key)
    if (problem !== undefined) throw problem
  }
}

/** A whole number that is not negative; undefined, with a problem noted, for anything else. */
function naturalNumber(settings: Settings, value: string, key: string): number | undefined {
  const isNatural = /^\s*\+?\d+\s*$/.test(value)
  return fits(settings, key, isNatural, 'Non-negative integer expected') ? Number(value) : undefined
}

/** Notes whether the last value of a key fits, and returns it. */
function fits({ problems }: Settings, key: string, does: boolean, why: string): boolean {
  if (does) problems.delete(key)
  else problems.set(key, badOption(key, why))
  return does
}

function badOption(key: string, why: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', `Error while reading option ${key}: ${why}.`)
}

function truth(value: string): boolean {
  return ['true', 'True', 'y', 'yes', 'Yes', '1'].includes(value)
}

/** Items between commas, with or without quotes of either kind around them. */
export function splitList(value: string): string[] {
  const items: string[] = []
  for (const [, double, single, plain] of value.matchAll(/\s*(?:"([^"]*)"|'([^']*)'|([^,]*))\s*(?:,|$)/g)) {
    const item = double ?? single ?? plain?.trim() ?? ''
    if (item !== '') items.push(item)
  }
  return items
}
