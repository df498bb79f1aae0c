/** The command line of pminfo, and state shared by the parts of its report. */
import type { Timestamp } from '../../base/timestamp.ts'
import type { Indom, Pmid } from '../../model/ids.ts'
import type { PrintOptions } from '../../model/print.ts'
import type { Context } from '../../pmapi/context.ts'
import type { OptionTable, ParsedOptions } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { KnownLabels } from './labels.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options] [metricname | pmid | indom]...',
  rows: [
    { heading: 'General options' },
    STANDARD.archive,
    STANDARD.host,
    STANDARD.container,
    STANDARD.localPmda,
    STANDARD.specLocal,
    STANDARD.namespace,
    STANDARD.uniqnames,
    STANDARD.origin,
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    STANDARD.version,
    STANDARD.help,
    { heading: 'Protocol options' },
    { short: 'b', long: 'batch', arg: 'N', help: 'fetch N metrics at a time with -f and -v [128]' },
    { short: 'd', long: 'desc', help: 'show descriptors: type, instance domain, semantics, units' },
    { short: '1', long: 'desc-oneline', help: 'show descriptors, one line a metric' },
    { short: 'f', long: 'fetch', help: 'show the values of all instances' },
    { short: 'F', long: 'fetchall', help: 'like -f, but fetch instances one by one if necessary' },
    { short: 'I', long: 'fullindom', help: 'like -d, also with the numeric instance domain' },
    { short: 'l', long: 'labels', help: 'show labels of metrics and their instances' },
    { short: 'm', long: 'pmid', help: 'show PMIDs' },
    { short: 'M', long: 'fullpmid', help: 'show PMIDs, also in numeric form' },
    { short: 's', long: 'series', help: 'show series identifiers of metrics and instances' },
    { short: 't', long: 'oneline', help: 'show the one-line help' },
    { short: 'T', long: 'helptext', help: 'show the full help' },
    { heading: 'Metrics options' },
    { short: 'c', long: 'derived', arg: 'FILE', help: 'load derived metrics from FILE' },
    { short: 'r', long: 'register', arg: 'NAME=EXPR', help: 'define a derived metric' },
    { short: 'x', long: 'events', help: 'show values, and the contents of event records' },
    { short: 'v', long: 'verify', help: 'show only metrics with errors' },
    { short: 'e', long: 'metadata-errors', help: 'like -v, but accept metrics without values' },
  ],
}

/** What to show for each metric. */
export interface PminfoOptions {
  desc: boolean
  descOneline: boolean
  fullIndom: boolean
  values: boolean
  /** If a metric refuses to list all instances, fetch each of them by name. */
  allInstances: boolean
  events: boolean
  labels: boolean
  series: boolean
  pmid: boolean
  fullPmid: boolean
  oneline: boolean
  help: boolean
  verify: boolean
  /** In verify mode, accept metrics without values. */
  emptyIsFine: boolean
  /** Metrics in a fetch. */
  batch: number
}

const DEFAULT_BATCH = 128

/** Reads pminfo's own options; errors are added to `problems`. */
export function wantedFrom(parsed: ParsedOptions): PminfoOptions {
  const wanted: PminfoOptions = {
    desc: false,
    descOneline: false,
    fullIndom: false,
    values: false,
    allInstances: false,
    events: false,
    labels: false,
    series: false,
    pmid: false,
    fullPmid: false,
    oneline: false,
    help: false,
    verify: false,
    emptyIsFine: false,
    batch: DEFAULT_BATCH,
  }
  for (const { name, value } of parsed.given) setWanted(wanted, name, value, parsed.problems)
  if (!wanted.verify) return wanted
  const { emptyIsFine, batch } = wanted
  return { ...wantedFrom({ given: [], operands: [], problems: [] }), verify: true, emptyIsFine, batch }
}

function setWanted(wanted: PminfoOptions, name: string, value: string, problems: string[]): void {
  switch (name) {
    case 'b':
      if (/^\s*[-+]?\d+$/.test(value)) wanted.batch = Math.max(1, Number(value))
      else problems.push('-b requires numeric argument')
      return
    case 'd':
      wanted.desc = true
      return
    case '1':
      wanted.descOneline = true
      return
    case 'I':
      wanted.desc = wanted.fullIndom = true
      return
    case 'f':
      wanted.values = true
      return
    case 'F':
      wanted.values = wanted.allInstances = true
      return
    case 'x':
      wanted.values = wanted.events = true
      return
    case 'l':
      wanted.labels = true
      return
    case 's':
      wanted.series = true
      return
    case 'm':
      wanted.pmid = true
      return
    case 'M':
      wanted.pmid = wanted.fullPmid = true
      return
    case 't':
      wanted.oneline = true
      return
    case 'T':
      wanted.help = true
      return
    case 'e':
      wanted.verify = wanted.emptyIsFine = true
      return
    case 'v':
      wanted.verify = true
  }
}

/** Does the report need descriptors? */
export function needsDescs({ desc, descOneline, values, labels, series, verify }: PminfoOptions): boolean {
  return desc || descOneline || values || labels || series || verify
}

/** Does the report need a source in addition to a name space? */
export function needsSource(wanted: PminfoOptions): boolean {
  return needsDescs(wanted) || wanted.oneline || wanted.help
}

/** State shared by the parts of a report. */
export interface Report {
  readonly context: Context
  readonly wanted: PminfoOptions
  readonly io: ToolIo
  readonly print: PrintOptions
  /** Archives only: start of the search for values. */
  readonly origin: Timestamp | undefined
  /** Cached names of the parameters of event records. */
  readonly eventNames: Map<Pmid, readonly string[]>
  readonly labels: KnownLabels
  /** Archives only: the last listed instance domain. */
  listed?: { readonly indom: Indom; readonly names: ReadonlyMap<number, string> }
}
