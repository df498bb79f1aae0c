/** /metrics: all metrics in the text format of Prometheus. docs/reference/pmproxy.md, docs/reference/agents/openmetrics.md */
import { indomStr, pmidStr } from '../../model/ids.ts'
import type { Label } from '../../model/labels.ts'
import { instanceLabels, prometheusLabels, prometheusName } from '../../model/prometheus-names.ts'
import { PM_SEM_COUNTER, PM_TYPE_FLOAT, semStr } from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import { typeName, unitsName } from '../describe.ts'
import { type ExposedIndom, type ExposedMetric, type Exposition, expose } from '../exposition.ts'
import { json, type Reply } from '../http/reply.ts'
import { matchKind } from '../match.ts'
import { otlp } from '../otlp.ts'
import type { ApiRoute } from './session.ts'

export const metrics: ApiRoute = {
  act: async ({ web, query, request, isCompatible }) => {
    const exposition = await expose(
      web,
      {
        names: query.list('names', 'name', 'prefix', 'target') ?? [],
        without: query.list('filter') ?? [],
        match: matchKind(query.get('match') ?? 'glob'),
      },
      { signal: request.signal },
    )
    if (prefersJson(request.headers.accept)) return json(JSON.stringify(otlp(exposition)))
    return plain(exposition, query.get('times') === 'true', isCompatible)
  },
}

/** Checks whether a client prefers JSON to plain text. */
function prefersJson(accept = ''): boolean {
  const [jsonAt, textAt] = [accept.indexOf('application/json'), accept.indexOf('text/plain')]
  return jsonAt >= 0 && (textAt < 0 || jsonAt < textAt)
}

function plain({ metrics, time }: Exposition, hasTimes: boolean, isCompatible: boolean): Reply {
  const stamp = hasTimes ? ` ${time.sec * 1000 + Math.floor(time.nsec / 1e6)}` : ''
  const known = new Map<readonly Label[], LabelTexts>()
  const texts = (labels: readonly Label[]): LabelTexts => {
    const found = known.get(labels) ?? bothTexts(labels)
    known.set(labels, found)
    return found
  }
  const blocks = metrics.map((metric) => block(metric, texts(metric.labels), stamp, isCompatible))
  return { status: 200, type: 'text/plain', body: blocks.join('') }
}

/** Labels as text: individually, and joined as they follow a name. */
interface LabelTexts {
  readonly base: ReadonlyMap<string, string>
  readonly shared: string
}

function bothTexts(labels: readonly Label[]): LabelTexts {
  const base = prometheusLabels(labels, quoted)
  return { base, shared: joined(base) }
}

function block(
  metric: ExposedMetric,
  { base, shared }: LabelTexts,
  stamp: string,
  isCompatible: boolean,
): string {
  const { name, desc, help, set } = metric
  const own = prometheusName(name, isCompatible ? ':' : '_')
  const units = unitsName(desc.units)
  const what = isCompatible
    ? `# PCP ${helpText(name)} ${semStr(desc.sem)} ${units}`
    : `# PCP5 ${helpText(name)} ${pmidStr(desc.pmid)} ${typeName(desc.type)} ${indomStr(desc.indom)} ${semStr(desc.sem)} ${units}`
  let text = `${what}\n# HELP ${own} ${helpText(help)}\n# TYPE ${own} ${desc.sem === PM_SEM_COUNTER ? 'counter' : 'gauge'}\n`
  for (let i = 0; i < set.status; i++) {
    const labels = metric.instances === undefined ? shared : labelsOf(metric.instances, set.inst[i]!, base)
    text += `${own}${labels} ${valueText(metric, i)}${stamp}\n`
  }
  return text
}

function valueText({ set, desc }: ExposedMetric, i: number): string {
  const value = extract(set, i, desc.type)
  if (typeof value !== 'number') return String(value)
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value < 0 ? '-Inf' : '+Inf'
  return String(desc.type === PM_TYPE_FLOAT ? Number(value.toPrecision(8)) : value)
}

function labelsOf({ names, labels }: ExposedIndom, id: number, base: ReadonlyMap<string, string>): string {
  return joined(
    instanceLabels(base, { id, name: names.get(id), labels: labels.get(id)?.labels ?? [] }, quoted),
  )
}

function joined(labels: ReadonlyMap<string, string>): string {
  if (labels.size === 0) return ''
  const members: string[] = []
  for (const [name, text] of labels) members.push(`${name}=${text}`)
  return `{${members.join(',')}}`
}

function quoted(text: string): string {
  const escaped = /[\\"\n]/.test(text)
    ? text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))
    : text
  return `"${escaped}"`
}

function helpText(text: string): string {
  return text.replace(/[\\\n]/g, (c) => (c === '\n' ? '\\n' : '\\\\'))
}
