/** Building and merging label sets. pmLookupLabels(3), pmMergeLabelSets(3), docs/formats/wire.md §3.12 */
import { byteWidth } from '../base/printf.ts'
import { PcpError } from './errors.ts'
import { PM_IN_NULL } from './ids.ts'
import { isCutShort, parseLabels } from './label-json.ts'
import { LABEL_CONTEXT, LABEL_OPTIONAL, type Label, type LabelSet } from './labels.ts'

/** Limits of the wire format for one set. */
const MAX_LABELS = 254
const MAX_JSON = 65534

/** Options of `makeLabelSet`. */
export interface LabelSetOptions {
  /** Instance of a LABEL_INSTANCES set; default PM_IN_NULL. */
  readonly inst?: number
  /** Marks all labels as annotations, not part of the identity: LABEL_OPTIONAL. */
  readonly isOptional?: boolean
  /** Called with each invalid name, which is then skipped; without it, invalid names are an error. */
  readonly onInvalid?: (name: string) => void
}

/**
 * Makes a label set from JSON text or an object of JSON values. Names consist of letters, digits and underscores; nested objects
 * become dotted names. `level` is one of LABEL_CONTEXT to LABEL_INSTANCES. EINVAL for anything else, E2BIG for more than
 * 254 labels or 65,534 bytes.
 */
export function makeLabelSet(
  labels: string | { readonly [name: string]: unknown },
  level: number,
  options: LabelSetOptions = {},
): LabelSet {
  const text = typeof labels === 'string' ? labels : JSON.stringify(labels)
  const flags = options.isOptional ? level | LABEL_OPTIONAL : level
  const parsed = parseLabels(text, flags)
  for (const name of parsed.invalid) {
    if (options.onInvalid === undefined) throw invalidName(name)
    options.onInvalid(name)
  }
  return labelSetOf(parsed.labels, options.inst)
}

/** Returns a set of labels with distinct names, given in any order. E2BIG as `makeLabelSet`. */
export function labelSetOf(labels: readonly Label[], inst: number = PM_IN_NULL): LabelSet {
  const sorted = [...labels].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const members = sorted.map(({ name, value }) => `"${name}":${value}`)
  const json = sorted.length === 0 ? '' : `{${members.join(',')}}`
  if (sorted.length > MAX_LABELS || byteWidth(json) > MAX_JSON) {
    throw new PcpError(
      'E2BIG',
      `A label set of ${sorted.length} labels and ${byteWidth(json)} bytes is too big`,
    )
  }
  return { inst, status: 0, json, labels: sorted }
}

/**
 * Merges sets in order of increasing precedence: the last label of each name wins, with its flags. Sets with an error and
 * labels rejected by `keep` are skipped; the instance is that of the last set. E2BIG as `makeLabelSet`.
 * @see pmMergeLabelSets(3)
 */
export function mergeLabelSets(
  sets: readonly LabelSet[],
  keep: (label: Label) => boolean = () => true,
): LabelSet {
  const byName = new Map<string, Label>()
  for (const set of sets) {
    if (set.status >= 0) for (const label of set.labels) if (keep(label)) byName.set(label.name, label)
  }
  return labelSetOf([...byName.values()], sets[sets.length - 1]?.inst)
}

/**
 * Merges JSON texts as `mergeLabelSets` does; returns '' if no label remains. Invalid names are skipped; a JSON array or
 * truncated text counts as empty. EINVAL for other invalid text, and for a text with only invalid names.
 * @see pmMergeLabels(3)
 */
export function mergeLabels(texts: readonly string[]): string {
  return mergeLabelSets(texts.map(tolerantSet)).json
}

function tolerantSet(text: string): LabelSet {
  // The reference does both (vectors format/labels_merge.json).
  if (/^[ \t\r\n]*\[/.test(text) || isCutShort(text)) return labelSetOf([])
  const { labels, invalid } = parseLabels(text, LABEL_CONTEXT)
  if (labels.length === 0 && invalid.length > 0) throw invalidName(invalid[0]!)
  return labelSetOf(labels)
}

function invalidName(name: string): PcpError {
  return new PcpError('EINVAL', `"${name}" is not a label name: use letters, digits and underscores`)
}
