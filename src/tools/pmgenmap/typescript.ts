/** Output of pmgenmap for TypeScript: lists for `known` of pcp-ts/pmapi, and a constant for every symbol. */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { semStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { type KnownMetric, knownType } from '../../pmapi/known-metrics.ts'
import type { MetricMap } from './map.ts'

/** Problems that prevent generating the module. */
export interface GenerationProblems {
  readonly problems: readonly string[]
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
/** Reserved words, which cannot name a constant. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'await break case catch class const continue debugger default delete do else enum export extends false finally for ' +
    'function if implements import in instanceof interface let new null package private protected public return static ' +
    'super switch this throw true try typeof var void while with yield'
  ).split(' '),
)

/**
 * Generates the module: every list with the descriptors from the source of `context`. Refused for missing metrics, invalid TypeScript
 * names, and symbols used for two metrics.
 */
export async function typescriptModule(
  map: MetricMap,
  file: string,
  context: Context,
  options: CallOptions,
): Promise<string | GenerationProblems> {
  const problems = [
    ...map.problems.map(({ line, text }) => `[${file}:${line}] ${text}`),
    ...nameProblems(map),
  ]
  const names = new Set(map.lines.flatMap((line) => (line.kind === 'metric' ? [line.name] : [])))
  const known = await lookUp([...names], context, options)
  for (const [name, metric] of known) if (metric instanceof PcpError) problems.push(`${name}: ${metric.text}`)
  if (problems.length > 0) return { problems }
  const host = await context.hostname(options)
  const banner = [
    '/**',
    ` * The metrics of ${file}, as they are on ${host || 'the source'}.`,
    ' * Made by pmgenmap --typescript: change the map and regenerate this file.',
    ' */',
  ].map((line) => `${line.replaceAll('*/', line === ' */' ? '*/' : '* /')}\n`)
  return `${banner.join('')}${body(map, known as ReadonlyMap<string, KnownMetric>)}`
}

async function lookUp(
  names: readonly string[],
  context: Context,
  options: CallOptions,
): Promise<Map<string, KnownMetric | PcpError>> {
  const ids = await context.lookupNames(names, options)
  const found = ids.filter((id): id is Pmid => !isError(id))
  const descs = await context.descs(found, options)
  const known = new Map<string, KnownMetric | PcpError>()
  let next = 0
  for (const [i, id] of ids.entries()) {
    const desc = isError(id) ? id : descs[next++]!
    known.set(names[i]!, isError(desc) ? desc : metricOf(desc))
  }
  return known
}

function metricOf({ pmid, type, sem, indom, units }: MetricDesc): KnownMetric | PcpError {
  const word = knownType(type)
  if (word === undefined) return new PcpError('PM_ERR_TYPE')
  return {
    pmid,
    type: word,
    sem: semStr(sem) as KnownMetric['sem'],
    hasInstances: indom !== PM_INDOM_NULL,
    units: unitsStr(units),
  }
}

function nameProblems({ lines }: MetricMap): string[] {
  const problems: string[] = []
  const metrics = new Map<string, string>()
  for (const line of lines) {
    const name = line.kind === 'begin' ? line.name : line.kind === 'metric' ? line.symbol : undefined
    if (name === undefined) continue
    const metric = line.kind === 'metric' ? line.name : ''
    if (!IDENTIFIER.test(name) || RESERVED.has(name))
      problems.push(`${name}: not a name that TypeScript allows`)
    else if (metrics.has(name) && (metric === '' || metrics.get(name) !== metric))
      problems.push(`${name}: used twice`)
    metrics.set(name, metric)
  }
  return problems
}

function body({ lines }: MetricMap, known: ReadonlyMap<string, KnownMetric>): string {
  let text = ''
  let isInside = false
  const listed = new Set<string>()
  const symbols = new Map<string, string>()
  for (const line of lines) {
    switch (line.kind) {
      case 'comment':
        for (const each of line.lines) text += `${isInside ? '  ' : ''}//${each === '' ? '' : ` ${each}`}\n`
        break
      case 'begin':
        isInside = true
        listed.clear()
        text += `\nexport const ${line.name} = {\n`
        break
      case 'metric':
        symbols.set(line.symbol, line.name)
        // A list may contain a metric under two symbols.
        if (!listed.has(line.name)) text += metricLine(line.name, known.get(line.name)!)
        listed.add(line.name)
        break
      case 'end':
        if (isInside) text += '} as const\n'
        isInside = false
    }
  }
  const constants = Array.from(symbols, ([symbol, name]) => `export const ${symbol} = ${quoted(name)}\n`)
  return `${text}${constants.length === 0 ? '' : '\n'}${constants.join('')}`
}

function metricLine(name: string, { pmid, type, sem, hasInstances, units }: KnownMetric): string {
  const fields = `pmid: ${pmid}, type: '${type}', sem: '${sem}', hasInstances: ${hasInstances}, units: ${quoted(units)}`
  return `  ${quoted(name)}: { ${fields} },\n`
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
