/** Label sets: metadata as JSON objects at several levels. pmLookupLabels(3), docs/formats/wire.md §3.12 */

/** Labels of a whole context, the level of lowest precedence. */
export const LABEL_CONTEXT = 1
/** Labels of an agent's domain. */
export const LABEL_DOMAIN = 2
/** Labels of an instance domain. */
export const LABEL_INDOM = 4
/** Labels of a cluster of metrics. */
export const LABEL_CLUSTER = 8
/** Labels of one metric. */
export const LABEL_ITEM = 16
/** Labels of each instance of an instance domain. */
export const LABEL_INSTANCES = 32
/** The name is a dotted path into nested objects. */
export const LABEL_COMPOUND = 64
/** An annotation, not part of the identity. */
export const LABEL_OPTIONAL = 128

/** One label. Its offsets in the set's text are computed when the set is encoded. */
export interface Label {
  readonly name: string
  /** The value as a raw JSON token, strings with their quotes. */
  readonly value: string
  /** Level bit plus LABEL_COMPOUND and LABEL_OPTIONAL. */
  readonly flags: number
}

/** Labels of one object at one level. */
export interface LabelSet {
  /** The instance for LABEL_INSTANCES, otherwise PM_IN_NULL. */
  readonly inst: number
  /** A negative error status from the peer, otherwise 0. */
  readonly status: number
  /** JSON text, flat, with sorted names and without white space; '' for an empty set. */
  readonly json: string
  readonly labels: readonly Label[]
}
