/** Derives type, semantics and units from a metric's comments, or from its name. docs/reference/agents/openmetrics.md */
import { PcpError } from '../../model/errors.ts'
import { unitsFromText } from '../../model/parse-units.ts'
import { PM_TIME_MSEC, PM_TIME_NSEC, PM_TIME_SEC, PM_TIME_USEC, packUnits } from '../../model/units.ts'
import type { SemName, TypeName } from '../../pmda/define.ts'
import type { MetricComments } from './exposition.ts'
import { type SourceConfig, verdictOn } from './source-config.ts'

/** Metadata of a metric. */
export interface Metadata {
  /** Below the name of the source; parts are separated by dots. */
  readonly name: string
  readonly type: ValueType
  readonly sem: SemName
  /** The units word. */
  readonly units: number
  /** One value, regardless of labels. */
  readonly hasOneValue: boolean
  /** Exported by PCP: instances are named by their label `instname`. */
  readonly isFromPcp: boolean
  /** Mistakes in declarations, which are then ignored. */
  readonly problems: readonly string[]
}

/** Types of exposed values. */
export type ValueType = Extract<TypeName, '32' | 'u32' | '64' | 'u64' | 'float' | 'double' | 'string'>

const TYPES: readonly string[] = ['32', 'u32', '64', 'u64', 'float', 'double', 'string'] satisfies ValueType[]
const SEMANTICS: readonly string[] = ['counter', 'instant', 'discrete'] satisfies SemName[]

const COUNT = packUnits({ dimCount: 1 })
/** Units by words of names and by OpenMetrics units. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['seconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_SEC })],
  ['milliseconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_MSEC })],
  ['microseconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_USEC })],
  ['nanoseconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_NSEC })],
  ['bytes', packUnits({ dimSpace: 1 })],
])

/** Returns a metric's metadata. METADATA lines of the configuration take precedence over comments, and these over its name. */
export function metadataOf(name: string, block: MetricComments, config: SourceConfig): Metadata {
  const rule = config.metadata.find(({ pattern }) => pattern.test(name))
  if (rule !== undefined)
    return declared(['METADATA', name, rule.type, rule.indom, rule.semantics, ...rule.units.split(' ')])
  return block.pcp === undefined ? guessed(name, block) : declared(block.pcp)
}

/** Whether the configuration includes the metric. */
export function isIncluded(name: string, config: SourceConfig): boolean {
  return verdictOn(config, 'METRIC', name) === 'INCLUDE'
}

/** Words of METADATA and `# PCP5`: name, type, domain, semantics, units; of `# PCP`: name, semantics, units. */
function declared(words: readonly string[]): Metadata {
  const problems: string[] = []
  const [kind, name] = words
  const isShort = kind === 'PCP'
  const [type, indom] = isShort ? ['double', ''] : [words[2]!, words[3]!]
  const [semantics = 'instant', ...units] = words.slice(isShort ? 2 : 4)
  if (!TYPES.includes(type)) problems.push(`unknown type "${type}": double is used`)
  if (!SEMANTICS.includes(semantics)) problems.push(`unknown semantics "${semantics}": instant is used`)
  return {
    name: partsOf(name!),
    type: TYPES.includes(type) ? (type as ValueType) : 'double',
    sem: SEMANTICS.includes(semantics) ? (semantics as SemName) : 'instant',
    units: unitsOf(units.join(' '), problems),
    hasOneValue: indom === 'PM_INDOM_NULL',
    isFromPcp: true,
    problems,
  }
}

function unitsOf(text: string, problems: string[]): number {
  if (text === 'none' || text === '') return 0
  try {
    return unitsFromText(text)
  } catch (error) {
    problems.push(`units "${text}": ${PcpError.from(error).message}`)
    return 0
  }
}

/** Guesses from words of the name that naming conventions define: `_total`, `_seconds` and the like. */
function guessed(name: string, { type, unit }: MetricComments): Metadata {
  const words = name.split('_')
  const has = (word: string): boolean => words.includes(word)
  const isHistogram = type === 'histogram' || type === 'gaugehistogram'
  const isBucket = isHistogram && has('bucket')
  const isCounting = isBucket || ((isHistogram || type === 'summary') && has('count'))
  // In OpenMetrics NAME_created is the start time of a counter; elsewhere it is an ordinary name.
  const isBirth = words.at(-1) === 'created' && (isHistogram || type === 'summary' || type === 'counter')
  const isCounter = type === 'counter' || has('total') || has('count') || has('sum') || isBucket
  const unitsWord = isCounting ? COUNT : (UNITS.get(words.find((word) => UNITS.has(word)) ?? '') ?? 0)
  return {
    name: partsOf(name),
    type: 'double',
    sem: isCounter && !isBirth && type !== 'gaugehistogram' ? 'counter' : 'instant',
    units: isBirth ? UNITS.get('seconds')! : isCounting ? unitsWord : (UNITS.get(unit ?? '') ?? unitsWord),
    hasOneValue: false,
    isFromPcp: false,
    problems: [],
  }
}

/** Recording rules separate parts of names by colons. */
function partsOf(name: string): string {
  return name.replaceAll(':', '.')
}
