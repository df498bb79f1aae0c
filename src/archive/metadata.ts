/** What an archive says about its metrics. docs/formats/archive.md §4, §11 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import type { Indom, Pmid } from '../model/ids.ts'
import type { LabelSet } from '../model/labels.ts'
import type { InstanceQuery, Instances, LabelQuery, TextQuery } from '../model/source.ts'
import type { Pmns } from '../pmns/tree.ts'

/** An instance domain as it was from a moment on. */
export interface IndomSnapshot {
  readonly sec: number
  readonly nsec: number
  /** Ascending. */
  readonly ids: Int32Array
  /** Name of the `i`th instance. */
  name(i: number): string
}

/** Metadata of one or several archives. `at` undefined asks about the archive's whole life. */
export interface Metadata {
  readonly descs: ReadonlyMap<Pmid, MetricDesc>
  /** Siblings are in reverse order of their first appearance, as in PCP. Made when first asked for. */
  readonly names: Pmns
  /** Instance domains that have instances at any time. */
  readonly indoms: readonly Indom[]
  /** A domain by time, oldest first; [] for one that is unknown. Of snapshots with equal time the later one counts. */
  snapshots(indom: Indom): readonly IndomSnapshot[]
  /** The snapshot that holds at a moment. */
  snapshotAt(indom: Indom, at: Timestamp): IndomSnapshot | undefined
  /** Instances at a moment, or all there ever were. PM_ERR_INDOM, PM_ERR_INDOM_LOG, PM_ERR_INST_LOG. @see pmGetInDom(3), pmGetInDomArchive(3) */
  instances(indom: Indom, query: InstanceQuery, at: Timestamp | undefined): Instances
  /** Label sets at a moment, or the newest; none is []. */
  labels(query: LabelQuery, at: Timestamp | undefined): readonly LabelSet[]
  /** Help text: exactly what is asked for, or undefined. */
  text(query: TextQuery): string | undefined
  /** Has the archive any text of this kind at all? */
  hasTexts(kind: TextQuery['kind'], level: TextQuery['level']): boolean
}
