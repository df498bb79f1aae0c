/** From what an application says of a metric, or only its name, to type, semantics and units. docs/openmetrics.md */
import { PcpError } from '../../model/errors.ts'
import { unitsFromText } from '../../model/parse-units.ts'
import { PM_TIME_MSEC, PM_TIME_NSEC, PM_TIME_SEC, PM_TIME_USEC, packUnits } from '../../model/units.ts'
import type { SemName, TypeName } from '../../pmda/define.ts'
import type { Block } from './exposition.ts'
import { type SourceConfig, verdictOn } from './source-config.ts'

/** What a metric is. */
export interface Metadata {
  /** Below the name of the source; parts are separated by dots. */
  readonly name: string
  readonly type: ValueType
  readonly sem: SemName
  /** The units word. */
  readonly units: number
  /** One value, whatever labels it has. */
  readonly isSingular: boolean
  /** Instances are called by their label `instname`: the metric came from PCP. */
  readonly isFromPcp: boolean
  /** What is wrong with what was said, which then does not count. */
  readonly problems: readonly string[]
}

/** Types that exposed text can have. */
export type ValueType = Extract<TypeName, '32' | 'u32' | '64' | 'u64' | 'float' | 'double' | 'string'>

const TYPES: readonly string[] = ['32', 'u32', '64', 'u64', 'float', 'double', 'string'] satisfies ValueType[]
const SEMANTICS: readonly string[] = ['counter', 'instant', 'discrete'] satisfies SemName[]

const COUNT = packUnits({ dimCount: 1 })
/** Words of names, and what OpenMetrics calls units. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['seconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_SEC })],
  ['milliseconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_MSEC })],
  ['microseconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_USEC })],
  ['nanoseconds', packUnits({ dimTime: 1, scaleTime: PM_TIME_NSEC })],
  ['bytes', packUnits({ dimSpace: 1 })],
])

/** What a metric is: a METADATA line of the configuration says it before the comments do, and those before its name. */
export function metadataOf(name: string, block: Block, config: SourceConfig): Metadata {
  const rule = config.metadata.find(({ pattern }) => pattern.test(name))
  if (rule !== undefined)
    return declared(['METADATA', name, rule.type, rule.indom, rule.semantics, ...rule.units.split(' ')])
  return block.pcp === undefined ? guessed(name, block) : declared(block.pcp)
}

/** Is the metric wanted? */
export function isWanted(name: string, config: SourceConfig): boolean {
  return verdictOn(config, 'METRIC', name) === 'INCLUDE'
}

/** Words of METADATA and `# PCP5`: name, type, domain, semantics, units; of `# PCP`: name, semantics, units. */
function declared(words: readonly string[]): Metadata {
  const problems: string[] = []
  const [kind, name] = words
  const isShort = kind === 'PCP'
  const [type, indom] = isShort ? ['double', ''] : [words[2]!, words[3]!]
  const [semantics = 'instant', ...units] = words.slice(isShort ? 2 : 4)
  if (!TYPES.includes(type)) problems.push(`type "${type}" is not known: double is used`)
  if (!SEMANTICS.includes(semantics)) problems.push(`semantics "${semantics}" are not known: instant is used`)
  return {
    name: partsOf(name!),
    type: TYPES.includes(type) ? (type as ValueType) : 'double',
    sem: SEMANTICS.includes(semantics) ? (semantics as SemName) : 'instant',
    units: unitsOf(units.join(' '), problems),
    isSingular: indom === 'PM_INDOM_NULL',
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

/** By the words of the name: `_total`, `_seconds` and the like, as exporters are asked to build names. */
function guessed(name: string, { type, unit }: Block): Metadata {
  const words = name.split('_')
  const has = (word: string): boolean => words.includes(word)
  const isHistogram = type === 'histogram' || type === 'gaugehistogram'
  const isBucket = isHistogram && has('bucket')
  const isCounting = isBucket || ((isHistogram || type === 'summary') && has('count'))
  // OpenMetrics: the time at which the counter beside it began. Of anybody else it is a name like any other.
  const isBirth = words.at(-1) === 'created' && (isHistogram || type === 'summary' || type === 'counter')
  const isCounter = type === 'counter' || has('total') || has('count') || has('sum') || isBucket
  const unitsWord = isCounting ? COUNT : (UNITS.get(words.find((word) => UNITS.has(word)) ?? '') ?? 0)
  return {
    name: partsOf(name),
    type: 'double',
    sem: isCounter && !isBirth && type !== 'gaugehistogram' ? 'counter' : 'instant',
    units: isBirth ? UNITS.get('seconds')! : isCounting ? unitsWord : (UNITS.get(unit ?? '') ?? unitsWord),
    isSingular: false,
    isFromPcp: false,
    problems: [],
  }
}

/** Colons stand between the parts of names that recording rules made. */
function partsOf(name: string): string {
  return name.replaceAll(':', '.')
}
