/** Names and labels of PCP metrics in the Prometheus world. docs/reference/pmproxy.md, docs/how-to/send-to-prometheus.md */
import type { Label } from './labels.ts'

/** Returns a metric's name with `_` for dots and other characters that are not allowed. */
export function prometheusName(metric: string, separator: '_' | ':' = '_'): string {
  return metric.replaceAll('.', separator).replace(/[^\w:]/g, '_')
}

/** Returns the labels of a metric as text, each formatted by `form`. */
export function prometheusLabels(
  labels: readonly Label[],
  form: (text: string) => string = String,
): Map<string, string> {
  return new Map(labels.map(({ name, value }) => [name.replaceAll('.', '_'), form(plainValue(value))]))
}

/** Adds the labels of an instance: its own, and its number and name as `instid` and `instname` unless it has such labels. */
export function instanceLabels(
  base: ReadonlyMap<string, string>,
  inst: { readonly id: number; readonly name: string | undefined; readonly labels: readonly Label[] },
  form: (text: string) => string = String,
): Map<string, string> {
  const { id, name, labels } = inst
  const all = labels.length === 0 ? new Map(base) : new Map([...base, ...prometheusLabels(labels, form)])
  if (!all.has('instid')) all.set('instid', form(String(id)))
  if (name !== undefined && !all.has('instname')) all.set('instname', form(name))
  return all
}

/** Converts a raw JSON value to text: the content of a string, else the value unchanged. */
export function plainValue(value: string): string {
  if (!value.startsWith('"')) return value
  try {
    return String(JSON.parse(value))
  } catch {
    return value.slice(1, -1)
  }
}
