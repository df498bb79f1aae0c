/** Metric descriptors and the units word. pmLookupDesc(3), docs/formats/wire.md §3.8, §6.3 */
import type { Indom, Pmid } from './ids.ts'

/** Descriptor of a metric: PMID, type, instance domain, semantics and units. */
export interface MetricDesc {
  readonly pmid: Pmid
  /** PM_TYPE_*. */
  readonly type: number
  /** PM_INDOM_NULL for a metric with one value. */
  readonly indom: Indom
  /** PM_SEM_*. */
  readonly sem: number
  /** The packed units word, unsigned; `model/units.ts` unpacks it. Unknown low bits are preserved. */
  readonly units: number
}
