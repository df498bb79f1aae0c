/** From labels as agents write them to a label set. pmLookupLabels(3) */
import { PM_IN_NULL } from '../model/ids.ts'
import { LABEL_COMPOUND, type Label, type LabelSet } from '../model/labels.ts'
import type { Labels, LabelValue } from './define.ts'

/** The set of some labels at a level. Nested objects become dotted names with LABEL_COMPOUND. */
export function labelSet(labels: Labels, level: number, inst: number = PM_IN_NULL): LabelSet {
  const flat: Label[] = []
  flatten(labels, '', level, flat)
  flat.sort((a, b) => (a.name < b.name ? -1 : 1))
  const json = flat.map(({ name, value }) => `${JSON.stringify(name)}:${value}`).join(',')
  return { inst, status: 0, json: flat.length === 0 ? '' : `{${json}}`, labels: flat }
}

function flatten(labels: Labels, prefix: string, flags: number, into: Label[]): void {
  for (const [key, value] of Object.entries(labels)) {
    const name = prefix + key
    if (isNested(value)) flatten(value, `${name}.`, flags | LABEL_COMPOUND, into)
    else into.push({ name, value: JSON.stringify(value), flags })
  }
}

function isNested(value: LabelValue): value is { readonly [name: string]: LabelValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
