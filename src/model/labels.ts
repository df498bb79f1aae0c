/** Label sets: metadata as JSON objects at several levels. pmLookupLabels(3), docs/formats/wire.md §3.12 */

/** Level that a label comes from; lowest precedence first. */
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
/** The label's name is a dotted path into nested objects. */
export const LABEL_COMPOUND = 64
/** An annotation, not part of the identity. */
export const LABEL_OPTIONAL = 128

/** One label: where its name and raw JSON value stand in the set's text is worked out when the set is encoded. */
export interface Label {
  readonly name: string
  /** The value as a raw JSON token, strings with their quotes. */
  readonly value: string
  /** Level bit plus LABEL_COMPOUND and LABEL_OPTIONAL. */
  readonly flags: number
}

/** Labels of one thing. */
export interface LabelSet {
  /** Instance for LABEL_INSTANCES, otherwise PM_IN_NULL. */
  readonly inst: number
  /** Negative: the peer reported this error for the set. Otherwise 0. */
  readonly status: number
  /** The flat JSON text, names sorted, no white space; '' for an empty set. */
  readonly json: string
  readonly labels: readonly Label[]
}
