/** The lines of the summary. pcp-summary(1) */
import { formatF } from '../../base/printf.ts'
import type { Sample } from '../lib/sampled/metrics.ts'
import { balancedLines } from '../lib/wrap.ts'

/** Data of the summary besides metrics. */
export interface SummarySubject {
  readonly host: string
  /** Undefined for a live host. */
  readonly archive: string | undefined
  readonly zone: string
  /** Show statistics of pmie rules instead of log files. */
  readonly showsRules: boolean
}

const UNAME = 'pmda.uname'
/** The metric of the host's zone. */
export const TIMEZONE = 'pmcd.timezone'
const SERVICES = 'pmcd.services'
const VERSION = 'pmcd.version'
const BUILD = 'pmcd.build'
const AGENTS = 'pmcd.numagents'
const CLIENTS = 'pmcd.numclients'
const STATUS = 'pmcd.agent.status'
const LOGGER = 'pmcd.pmlogger'
const PMIE = 'pmcd.pmie'

/** Hardware metrics with their unit. */
const HARDWARE: readonly (readonly [metric: string, word: string])[] = [
  ['hinv.ncpu', 'cpu'],
  ['hinv.ndisk', 'disk'],
  ['hinv.nnode', 'node'],
  ['hinv.nrouter', 'router'],
  ['hinv.nxbow', 'xbow'],
]
const CPU_TYPE = 'hinv.cputype'
const MEMORY = 'hinv.physmem'

/** Metrics of the summary. */
export const METRICS: readonly (string | { readonly name: string; readonly units: string })[] = [
  UNAME,
  CPU_TYPE,
  ...HARDWARE.map(([name]) => name),
  { name: MEMORY, units: 'Mbyte' },
  TIMEZONE,
  SERVICES,
  VERSION,
  BUILD,
  AGENTS,
  CLIENTS,
  STATUS,
  ...['pmcd_host', 'archive'].map((name) => `${LOGGER}.${name}`),
  ...['pmcd_host', 'logfile', 'configfile', 'numrules', 'actions'].map((name) => `${PMIE}.${name}`),
  ...['true', 'false', 'unknown', 'expected'].map((name) => `${PMIE}.eval.${name}`),
]

const LABEL = 9
const WIDTH = 64
const INDENT = ' '.repeat(LABEL + 2)

/** Formats the summary; without a sample only the subject is known. */
export function summaryText(sample: Sample | undefined, subject: SummarySubject): string {
  const { host, archive, zone, showsRules } = subject
  const services = sample?.text(SERVICES)
  return [
    `Performance Co-Pilot configuration on ${host}:\n\n`,
    ...(archive === undefined ? [] : [entry('archive', archive)]),
    entry('platform', sample?.text(UNAME) ?? ''),
    entry('hardware', hardwareText(sample)),
    entry('timezone', zone),
    ...(services === undefined ? [] : [entry('services', services)]),
    entry('pmcd', collectorText(sample)),
    ...agentLines(sample),
    ...loggerLines(sample),
    ...engineLines(sample, showsRules),
  ].join('')
}

function entry(label: string, text: string): string {
  return `${label.padStart(LABEL)}: ${text}\n`
}

/** Formats an entry; further lines are indented to its first word. */
function entryOf(label: string, lines: readonly string[]): string {
  return entry(label, lines.join(`\n${INDENT}`))
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** As in PCP, a comma follows everything but memory, even if memory is unknown. */
function hardwareText(sample: Sample | undefined): string {
  const type = sample?.text(CPU_TYPE)
  const counts = HARDWARE.flatMap(([metric, word]) => {
    const count = sample?.number(metric)
    if (count === undefined) return []
    return [`${counted(count, word === 'cpu' && type !== undefined ? `${type} cpu` : word)},`]
  })
  const memory = sample?.number(MEMORY)
  const parts = memory === undefined ? counts : [...counts, `${Math.trunc(memory)}MB RAM`]
  return parts.join(' ')
}

function collectorText(sample: Sample | undefined): string {
  const version = sample?.text(VERSION) ?? 'unknown'
  const build = sample?.text(BUILD)
  const agents = sample?.number(AGENTS)
  // Do not count this client.
  const clients = (sample?.number(CLIENTS) ?? 1) - 1
  const parts = [
    ...(agents === undefined ? [] : [counted(agents, 'agent')]),
    ...(clients > 0 ? [counted(clients, 'client')] : []),
  ]
  const name = build === undefined ? version : `${version}-${build}`
  return parts.length === 0 ? `Version ${name},` : `Version ${name}, ${parts.join(', ')}`
}

function agentLines(sample: Sample | undefined): readonly string[] {
  if (sample?.has(STATUS) !== true) return []
  const inOrder = [...sample.instances(STATUS)].sort(([a], [b]) => a - b)
  const agents = inOrder.map(([inst, name]) => {
    const status = sample.number(STATUS, inst)
    return status === 0 ? name : `${name}[${status ?? '?'}]`
  })
  return [entryOf('pmda', balancedLines(agents, WIDTH))]
}

/** Returns the instances to show: the primary one first, without its second instance for its PID. */
function instancesOf(
  sample: Sample,
  metric: string,
): readonly (readonly [inst: number, isPrimary: boolean])[] {
  const texts = new Map([...sample.texts(metric)].sort(([a], [b]) => a - b))
  const primary = texts.get(PRIMARY)
  const others = [...texts].filter(([inst, text]) => inst !== PRIMARY && text !== primary)
  const rest = others.map(([inst]) => [inst, false] as const)
  return primary === undefined ? rest : [[PRIMARY, true], ...rest]
}

/** The instance of the primary logger and rule engine. */
const PRIMARY = 0

function loggerLines(sample: Sample | undefined): readonly string[] {
  if (sample === undefined) return []
  const archives = sample.texts(`${LOGGER}.archive`)
  const lines = instancesOf(sample, `${LOGGER}.archive`).flatMap(([inst, isPrimary]) => {
    const name = isPrimary ? 'primary logger' : sample.text(`${LOGGER}.pmcd_host`, inst)
    // In old archives the host is only in the label.
    return name === undefined ? [] : [`${name}: ${archives.get(inst)}`]
  })
  return lines.length === 0 ? [] : [entryOf('pmlogger', lines)]
}

function engineLines(sample: Sample | undefined, showsRules: boolean): readonly string[] {
  if (sample === undefined) return []
  const lines = instancesOf(sample, `${PMIE}.logfile`).flatMap(([inst, isPrimary]) => {
    const name = isPrimary ? 'primary engine' : (sample.text(`${PMIE}.pmcd_host`, inst) ?? '?')
    if (showsRules) return ruleLines(sample, inst, name)
    return [`${name}: ${sample.text(`${PMIE}.logfile`, inst)}`]
  })
  return lines.length === 0 ? [] : [entryOf('pmie', lines)]
}

function ruleLines(sample: Sample, inst: number, name: string): readonly string[] {
  const count = (metric: string): string => String(sample.number(`${PMIE}.${metric}`, inst) ?? '?')
  const expected = sample.number(`${PMIE}.eval.expected`, inst)
  const words = [
    `${name}:`,
    sample.text(`${PMIE}.configfile`, inst) ?? '?',
    `(${count('numrules')}`,
    'rules)',
  ]
  return [
    ...balancedLines(words.join(' ').split(' '), WIDTH),
    `evaluations true=${count('eval.true')} false=${count('eval.false')} unknown=${count('eval.unknown')} (actions=${count('actions')})`,
    `expected evaluation rate=${expected === undefined ? '?' : formatF(expected, 2)} rules/sec`,
  ]
}
