/** Converts attributes to labels and to the instance names of series. docs/reference/agents/otel.md */
import type { Labels, LabelValue } from '../../pmda/define.ts'
import { foreignLabels, labelName } from '../lib/foreign-names.ts'
import type { Attributes, OtlpMetric } from './otlp.ts'

/** Name and labels of a series. */
export interface SeriesName {
  /** Labels in order, as `key:value key:value`. */
  readonly name: string
  /** Labels that identify it. */
  readonly labels: Labels
  /** Other attributes. */
  readonly notes: Labels
}

/** Attributes that identify a service. */
const SERVICE = ['service.namespace', 'service.name', 'service.instance.id']
/** Attributes that identify an instance of a service without `service.instance.id`. */
const PLACE = ['host.name', 'k8s.namespace.name', 'k8s.pod.name', 'container.id', 'process.pid']

/** Returns the name of the series of an attribute set. */
export function seriesName({ resource, scope }: OtlpMetric, attributes: Attributes): SeriesName {
  const labels = new Map<string, LabelValue>()
  const identity = new Set(resource.has('service.instance.id') ? SERVICE : [...SERVICE, ...PLACE])
  for (const key of identity) {
    const value = resource.get(key)
    if (value !== undefined) labels.set(labelName(key), value)
  }
  if (scope.name !== '') labels.set('otel_scope_name', scope.name)
  for (const [key, value] of attributes) labels.set(labelName(key), value)
  const notes = new Map<string, LabelValue>()
  const note = (key: string, value: LabelValue): void => {
    const name = labelName(key)
    if (!labels.has(name)) notes.set(name, value)
  }
  for (const [key, value] of resource) if (!identity.has(key)) note(key, value)
  if (scope.version !== '') note('otel.scope.version', scope.version)
  for (const [key, value] of scope.attributes) note(key, value)
  const sorted = [...labels].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    name: sorted.map(([key, value]) => `${key}:${textOf(value)}`).join(' '),
    labels: foreignLabels(sorted),
    notes: foreignLabels(notes),
  }
}

/** Returns a metric's name below the root: words separated by dots that start with a letter. */
export function metricPath(name: string): string {
  const parts = name.split('.').filter((part) => part !== '')
  return parts
    .map((part) => part.replace(/[^A-Za-z0-9_]/g, '_'))
    .map((part) => (/^[A-Za-z]/.test(part) ? part : `x${part}`))
    .join('.')
}

/** One line without control characters, because instance names are saved in a file of lines. */
function textOf(value: LabelValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
  return text.replace(/[\u0000-\u001f\u007f]/g, ' ')
}
