/** All settings of a report, from configuration files and options, in one table of keys. pmrep.conf(5) */

import { PcpError } from '../../../model/errors.ts'
import { DESTINATION_KEYS, type DestinationKey } from './destinations.ts'

/** Settings of a report. Names are those of the keys in configuration files. */
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
  /** Show raw counters instead of rates. */
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
  /** Heading of the instances' column; undefined to show instances as columns. */
  colxrow: string | undefined
  width: number
  width_force: number | undefined
  precision: number
  precision_force: number | undefined
  delimiter: string | undefined
  extcsv: boolean
  extheader: boolean
  fixed_header: boolean
  /** Samples between headings; 0 for never, 'auto' for the height of the terminal. */
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
  /** Exporters: add semantics and types. */
  extended: boolean
  /** Exporters: add all metadata. */
  everything: boolean
  /** Write numbers as JSON numbers. */
  exact_types: boolean
  /** pcp2openmetrics: write times. */
  times: boolean
  no_comment: boolean
  /** pcp2arrow: file format. */
  file_format: string | undefined
  url: string | undefined
  http_timeout: number
  http_user: string | undefined
  http_pass: string | undefined
  /** Settings of a single exporter that sends to a server, as text by key. */
  readonly destination: Map<DestinationKey, string>
  /** Errors of invalid values by key, thrown by `checkValues`. */
  readonly problems: Map<string, PcpError>
}

/** Action when metrics appear or vanish. */
export type NamesChange = 'ignore' | 'abort' | 'update'

/** Returns the built-in defaults. */
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
    destination: new Map(),
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

function destination(key: DestinationKey): Setter {
  return (settings, value) => settings.destination.set(key, value)
}

function setPort({ destination }: Settings, port: string, pickle: 'yes' | 'no'): void {
  destination.set('graphite_port', port).set('pickle', pickle)
}

/** Names and numbers of the actions. */
const NAMES_CHANGES: Readonly<Record<string, NamesChange>> = {
  ignore: 'ignore',
  '0': 'ignore',
  abort: 'abort',
  '1': 'abort',
  update: 'update',
  '2': 'update',
}

/** Setters by key. */
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
  ...Object.fromEntries(DESTINATION_KEYS.map((key) => [key, destination(key)])),
  // Options of pcp2graphite, which choose the protocol too.
  pickle_port: (settings, value) => setPort(settings, value, 'yes'),
  text_port: (settings, value) => setPort(settings, value, 'no'),
}

/** Is this the name of a setting? */
export function isSetting(key: string): boolean {
  return Object.hasOwn(KEYS, key)
}

/** Sets a key. Throws PM_ERR_GENERIC with the line to print for an invalid value. */
export function applySetting(settings: Settings, key: string, value: string): void {
  KEYS[key]?.(settings, value, key)
}

/** Keys whose values are checked after the source is opened, in this order. */
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

/** Throws the first error of an invalid value: PM_ERR_GENERIC with the line to print. */
export function checkValues({ problems }: Settings): void {
  for (const key of CHECKED_LATE) {
    const problem = problems.get(key)
    if (problem !== undefined) throw problem
  }
}

/** Parses a non-negative integer; for other text records a problem and returns undefined. */
function naturalNumber(settings: Settings, value: string, key: string): number | undefined {
  const isNatural = /^\s*\+?\d+\s*$/.test(value)
  return fits(settings, key, isNatural, 'Non-negative integer expected') ? Number(value) : undefined
}

/** Records whether the value of a key is valid, and returns it. */
function fits({ problems }: Settings, key: string, does: boolean, why: string): boolean {
  if (does) problems.delete(key)
  else problems.set(key, badOption(key, why))
  return does
}

function badOption(key: string, why: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', `Error while reading option ${key}: ${why}.`)
}

/** Returns whether a text of a configuration file means yes. */
export function truth(value: string): boolean {
  return ['true', 'True', 'y', 'yes', 'Yes', '1'].includes(value)
}

/** Splits items at commas and removes quotes around each. */
export function splitList(value: string): string[] {
  const items: string[] = []
  for (const [, double, single, plain] of value.matchAll(/\s*(?:"([^"]*)"|'([^']*)'|([^,]*))\s*(?:,|$)/g)) {
    const item = double ?? single ?? plain?.trim() ?? ''
    if (item !== '') items.push(item)
  }
  return items
}
