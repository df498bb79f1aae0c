/** Turns command line and configuration into a report request. pmrep(1), pmrep.conf(5) */
import { PcpError } from '../../../model/errors.ts'
import { loadConfig } from '../../../sys/config.ts'
import { parseInterval } from '../../../time/interval.ts'
import { handleEarlyExit, type OptionTable, parseOptions, usageText } from '../options.ts'
import { didYouMean, similarNames } from '../similar-names.ts'
import { parseStandard, STANDARD, type StandardOptions } from '../standard.ts'
import type { ToolIo } from '../tool.ts'
import {
  applyOptionsSection,
  applySection,
  type ReportConfig,
  readConfig,
  sectionMetrics,
  shippedSets,
  withShippedSets,
} from './config.ts'
import { linesError } from './metrics.ts'
import type { ReportOption } from './options.ts'
import { applySetting, defaultSettings, type Settings } from './settings.ts'
import { parseSpec, type ReportMetricSpec } from './spec.ts'

/** A requested report. */
export interface ReportRequest {
  readonly settings: Settings
  readonly standard: StandardOptions
  readonly specs: readonly ReportMetricSpec[]
  /** Derived metrics in the order of definition: expressions by name, or files. */
  readonly derived: readonly Derived[]
  /** -t was given. */
  readonly hasInterval: boolean
  /** -C: only resolve metrics. */
  readonly isCheck: boolean
}

/** A definition, or a file of definitions. */
export type Derived =
  | { readonly name: string; readonly expression: string; readonly unlessKnown: boolean }
  | { readonly file: string }

/** Differences between commands. */
export interface RequestRules {
  /** Changes defaults. */
  readonly preset?: (settings: Settings) => void
  /** Without operands, report all metrics. */
  readonly takesAll?: boolean
}

/**
 * Reads command line and configuration, later ones winning: built-in defaults, environment, `[options]`, the sections that operands
 * name, command line. Returns the exit status if the command ends here. Throws PM_ERR_GENERIC with the lines to print.
 */
export function readRequest(
  tool: string,
  table: OptionTable,
  io: ToolIo,
  { preset, takesAll = false }: RequestRules = {},
): ReportRequest | number {
  const early = parseOptions(table, io)
  const settings = defaultSettings()
  preset?.(settings)
  const { variables } = loadConfig(io.env, { uid: process.getuid?.() ?? 0 })
  const isHopeless =
    early.problems.length > 0 ||
    early.given.some(({ option }) => option.long === 'help' || option.long === 'version')
  const path = early.given.findLast(({ option }) => option.long === 'config')?.value
  const config: ReportConfig = isHopeless
    ? { file: '', sections: new Map() }
    : withOwnSets(readConfig(tool, path, { cwd: io.cwd, env: io.env, variables }), early.operands, path)
  applyOptionsSection(config, settings)
  applySection(config, 'global', settings)
  const parsed = parseStandard(table, io, { alignsLive: true, hasDefaultSource: true, isHighRes: true })
  const sets = parsed.operands.filter((operand) => operand.startsWith(':'))
  for (const set of sets) {
    if (!config.sections.has(set.slice(1))) {
      if (!isHopeless) throw unknownSet(set, config)
    } else if (set !== ':options') applySection(config, set.slice(1), settings)
  }
  const status = handleEarlyExit(table, parsed, io)
  if (status !== undefined) return status
  applyOptions(
    parsed.given.map(({ option, value }) => ({ option: option as Partial<ReportOption>, value })),
    settings,
  )
  const standard = withConfigured(parsed.standard, settings, (name) =>
    early.given.some(({ option }) => option === STANDARD[name]),
  )
  const isAll = takesAll && parsed.operands.length === 0
  if (isAll) settings.ignore_incompat = true
  const { specs, derived } = wanted(config, isAll ? [''] : parsed.operands, settings)
  if (specs.length === 0) {
    const usage = parsed.operands.length === 0 ? usageText(table, io.progname) : ''
    io.stderr.write(`No metrics specified.\n${usage}`)
    return 1
  }
  const isCheck = parsed.given.some(({ option }) => option.long === 'check')
  const hasInterval = early.given.some(({ option }) => option === STANDARD.interval)
  return { settings, standard, specs, derived, hasInterval, isCheck }
}

/** Adds missing sets of this package, unless the user chose a configuration. */
function withOwnSets(
  config: ReportConfig,
  operands: readonly string[],
  path: string | undefined,
): ReportConfig {
  return path === undefined ? withShippedSets(config, operands) : config
}

function unknownSet(set: string, { sections }: ReportConfig): PcpError {
  const known = new Set([...sections.keys(), ...shippedSets().sections.keys()])
  const near = similarNames(set.slice(1), known).map((name) => `:${name}`)
  return linesError(`Metricset definition '${set}' not found.${didYouMean(near)}`)
}

/** Applies options of the command line; repeated list options are concatenated. */
function applyOptions(
  given: readonly { readonly option: Partial<ReportOption>; readonly value: string }[],
  settings: Settings,
): void {
  const lists = new Map<string, string[]>()
  for (const { option, value } of given) {
    const { key } = option
    if (key === undefined) continue
    if (key === 'derived') settings.derived.push(...value.split(';'))
    else if (key === 'instances') lists.set(key, [...(lists.get(key) ?? []), value])
    else applySetting(settings, key, option.value ?? value)
  }
  for (const [key, values] of lists) applySetting(settings, key, values.join(','))
}

/** Uses the configured source, samples and interval where the command line has none. */
function withConfigured(
  standard: StandardOptions,
  settings: Settings,
  isGiven: (
    name:
      | 'samples'
      | 'interval'
      | 'host'
      | 'archive'
      | 'localPmda'
      | 'archiveList'
      | 'archiveFolio'
      | 'specLocal',
  ) => boolean,
): StandardOptions {
  let result = standard
  const { source, samples, interval, speclocal } = settings
  if (samples !== undefined && !isGiven('samples')) {
    if (!/^\+?\d+$/.test(samples)) throw linesError('pcp: sample count must be a positive numeric argument')
    result = { ...result, samples: Number(samples) }
  }
  if (interval !== undefined && !isGiven('interval')) result = { ...result, interval: intervalOf(interval) }
  const hasSource = (['host', 'archive', 'archiveList', 'archiveFolio', 'localPmda'] as const).some(isGiven)
  if (source !== undefined && !hasSource) {
    if (source === '@') result = { ...result, source: 'local' }
    else if (source.includes('/')) result = { ...result, source: 'archive', archives: [source] }
    else result = { ...result, source: 'host', hosts: [source] }
  }
  if (speclocal !== undefined && !isGiven('specLocal')) {
    const specs = speclocal.split(/[;|]/)
    result = { ...result, specLocal: specs }
  }
  return result
}

function intervalOf(text: string): NonNullable<StandardOptions['interval']> {
  try {
    return parseInterval(text)
  } catch (error) {
    throw linesError(`Error while reading option interval: ${PcpError.from(error).message.trimEnd()}`)
  }
}

/** Collects metrics and definitions of `[global]`, of the sections that operands name, and of operands. */
function wanted(
  config: ReportConfig,
  operands: readonly string[],
  settings: Settings,
): { readonly specs: readonly ReportMetricSpec[]; readonly derived: readonly Derived[] } {
  const specs = new Map<string, ReportMetricSpec>()
  const derived: Derived[] = settings.derived.filter((text) => text.trim() !== '').map(derivedOf)
  const addSection = (name: string): void => {
    const section = sectionMetrics(config, name)
    for (const spec of section.specs) specs.set(spec.name, spec)
    for (const [metric, expression] of section.formulas)
      derived.push({ name: metric, expression, unlessKnown: true })
  }
  if (settings.globals && operands.length > 0) addSection('global')
  for (const operand of operands) {
    if (!operand.startsWith(':')) {
      const spec = parseSpec(operand)
      specs.set(spec.name, spec)
    } else if (operand !== ':options') addSection(operand.slice(1))
  }
  return { specs: [...specs.values()], derived }
}

function derivedOf(text: string): Derived {
  if (/^[/.]/.test(text.trim())) return { file: text.trim() }
  const at = text.indexOf('=')
  if (at < 0) throw linesError(`Failed to register derived metric:\nNo "=" in ${text.trim()}`)
  return { name: text.slice(0, at).trim(), expression: text.slice(at + 1).trim(), unlessKnown: false }
}
