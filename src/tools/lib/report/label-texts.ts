/** Labels in headings, formatted as a Python dictionary. pmrep(1) -m */
import { PcpError } from '../../../model/errors.ts'
import type { ReportMetric } from './metrics.ts'
import type { ReportPlan } from './report.ts'

/** JSON texts of labels by instance; instances without labels have the entry of PM_IN_NULL. */
export type MetricLabels = ReadonlyMap<number, string>

/** Returns the merged labels of a metric and its instances; `{}` without any. */
export async function labelsOf(plan: ReportPlan, metric: ReportMetric): Promise<MetricLabels> {
  const { context } = plan
  const texts = await emptyIfUnsupported(async () =>
    (await context.labelsFor(metric.desc.pmid)).map(({ json }) => json),
  )
  const labels = new Map([[-1, mergedTexts(texts)]])
  if (!metric.hasInstances) return labels
  const sets = await emptyIfUnsupported(async () => context.instancesLabels(metric.desc.indom))
  for (const { inst, json } of sets) if (json !== '') labels.set(inst, mergedTexts([...texts, json]))
  return labels
}

/** Merges labels of several levels: a later value takes the place of an earlier one in order, and all become strings. */
export function mergedTexts(sets: readonly string[]): string {
  const all: Record<string, string> = {}
  for (const json of sets) {
    if (json === '') continue
    for (const [name, value] of Object.entries(JSON.parse(json) as Record<string, unknown>))
      all[name] = typeof value === 'string' ? value : JSON.stringify(value)
  }
  return JSON.stringify(all)
}

/** Formats the labels of an instance as `{'name':'value'}`, or with another quote as JSON. */
export function labelText(labels: MetricLabels | undefined, inst: number, quote = "'"): string {
  const json = labels?.get(inst) ?? labels?.get(-1) ?? ''
  return json === '' ? '{}' : quote === '"' ? json : json.replaceAll('"', quote)
}

async function emptyIfUnsupported<T>(ask: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof PcpError) return [] // older sources have no labels at all
    throw error
  }
}
