/** Labels in headings, as Python writes a dictionary. pmrep(1) -m */
import { PcpError } from '../../../model/errors.ts'
import type { ReportMetric } from './metrics.ts'
import type { ReportPlan } from './report.ts'

/** Labels of a metric's instances: texts in JSON by instance; PM_IN_NULL's where one has none of its own. */
export type MetricLabels = ReadonlyMap<number, string>

/** All labels that hold for a metric and its instances; `{}` where nobody knows any. */
export async function labelsOf(plan: ReportPlan, metric: ReportMetric): Promise<MetricLabels> {
  const { context } = plan
  const texts = await orNone(async () => (await context.labelsFor(metric.desc.pmid)).map(({ json }) => json))
  const labels = new Map([[-1, mergedTexts(texts)]])
  if (!metric.hasInstances) return labels
  const sets = await orNone(async () => context.instancesLabels(metric.desc.indom))
  for (const { inst, json } of sets) if (json !== '') labels.set(inst, mergedTexts([...texts, json]))
  return labels
}

/** Labels of several levels as one: in the order of the levels, a later value in an earlier one's place, and all values as text. */
export function mergedTexts(sets: readonly string[]): string {
  const all: Record<string, string> = {}
  for (const json of sets) {
    if (json === '') continue
    for (const [name, value] of Object.entries(JSON.parse(json) as Record<string, unknown>))
      all[name] = typeof value === 'string' ? value : JSON.stringify(value)
  }
  return JSON.stringify(all)
}

/** Labels of an instance, as `{'name':'value'}`; with another quote, as JSON. */
export function labelText(labels: MetricLabels | undefined, inst: number, quote = "'"): string {
  const json = labels?.get(inst) ?? labels?.get(-1) ?? ''
  return json === '' ? '{}' : quote === '"' ? json : json.replaceAll('"', quote)
}

async function orNone<T>(ask: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof PcpError) return [] // older sources have no labels at all
    throw error
  }
}
