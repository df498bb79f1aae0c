/** Metrics, instances, texts and labels of the input that rules may refer to. docs/formats/archive.md §4 */
import type { Archive } from '../../archive/archive.ts'
import {
  afterStamp,
  forEachMetaRecord,
  labelTarget,
  META_DESC,
  META_INDOM,
  META_INDOM_DELTA,
  META_INDOM_V2,
  META_LABEL,
  META_LABEL_V2,
  META_TEXT,
  TEXT_HELP,
  TEXT_INDOM,
  TEXT_ONELINE,
  TEXT_PMID,
} from '../../archive/meta-records.ts'
import { type ArchiveVersion, readStamp } from '../../archive/stamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { type Indom, indomStr, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { firstWord } from '../../model/instance-name.ts'
import { IndomOrder } from './indom-order.ts'

/** A help text of the input. */
export interface KnownText {
  readonly kind: 'metric' | 'indom'
  readonly id: number
  readonly level: 'oneline' | 'help'
}

/** An object with labels. */
export interface KnownLabels {
  readonly level: number
  readonly id: number
}

/** An instance with its last name. */
export interface KnownInstance {
  readonly id: number
  readonly name: string
}

/** Contents of the input, in the order of the metadata files. */
export class InputContents {
  readonly archive: Archive
  /** Version of the output. */
  readonly version: ArchiveVersion
  readonly indoms: readonly Indom[]
  /** Domains with records of version 2. */
  readonly oldIndoms: ReadonlySet<Indom>
  readonly order: IndomOrder = new IndomOrder()
  readonly texts: readonly KnownText[]
  readonly labels: readonly KnownLabels[]

  constructor(archive: Archive, version: ArchiveVersion) {
    this.archive = archive
    this.version = version
    const indoms = new Set<Indom>()
    const oldIndoms = new Set<Indom>()
    const texts = new Map<string, KnownText>()
    const labels = new Map<string, KnownLabels>()
    for (const { meta } of archive.members) {
      const view = new DataView(meta.bytes.buffer, meta.bytes.byteOffset, meta.bytes.length)
      forEachMetaRecord(view, meta.start, meta.path, (at, _, type) => {
        if (type === META_INDOM || type === META_INDOM_V2 || type === META_INDOM_DELTA) {
          const indom = view.getUint32(afterStamp(at, type))
          indoms.add(indom)
          if (type === META_INDOM_V2) oldIndoms.add(indom)
          const time = readStamp(view, at + 8, type === META_INDOM_V2 ? 2 : 3)
          this.order.add(indom, time, type === META_INDOM_DELTA)
        } else if (type === META_TEXT) {
          const what = view.getInt32(at + 8)
          const id = view.getUint32(at + 12)
          const kind = (what & TEXT_INDOM) !== 0 ? 'indom' : 'metric'
          const level = (what & TEXT_ONELINE) !== 0 ? 'oneline' : 'help'
          if ((what & (TEXT_PMID | TEXT_INDOM)) !== 0 && (what & (TEXT_ONELINE | TEXT_HELP)) !== 0)
            texts.set(`${what} ${id}`, { kind, id, level })
        } else if (type === META_LABEL || type === META_LABEL_V2) {
          const target = labelTarget(view, afterStamp(at, type))
          labels.set(`${target.level} ${target.id}`, target)
        } else if (type !== META_DESC)
          throw new PcpError('PM_ERR_RECTYPE', `${meta.path}: record type ${type}`)
      })
    }
    this.indoms = [...indoms]
    this.oldIndoms = oldIndoms
    this.texts = [...texts.values()]
    this.labels = [...labels.values()]
  }

  get descs(): ReadonlyMap<Pmid, MetricDesc> {
    return this.archive.metadata.descs
  }

  /** Returns the descriptor of a name. Throws PM_ERR_NAME for unknown names, PM_ERR_NONLEAF for a non-leaf. */
  metric(name: string): MetricDesc {
    const id = this.archive.metadata.lookup(name)
    if (isError(id)) throw id
    const desc = this.descs.get(id)
    if (desc === undefined) throw new PcpError('PM_ERR_NAME', `Unknown metric name: "${name}"`)
    return desc
  }

  /** Returns the PMID of a name; undefined if unknown. */
  pmidOf(name: string): Pmid | undefined {
    const id = this.archive.metadata.lookup(name)
    return isError(id) ? undefined : id
  }

  /** Returns a metric's first name; undefined without one. */
  nameOf(pmid: Pmid): string | undefined {
    const names = this.archive.metadata.names.namesOf(pmid)
    return isError(names) ? undefined : names[0]
  }

  /** Returns all instances a domain ever has, with their last names; [] for an unknown domain. */
  instances(indom: Indom): readonly KnownInstance[] {
    if (indom === PM_INDOM_NULL || !this.archive.metadata.indoms.includes(indom)) return []
    const { ids, names } = this.archive.metadata.instances(indom, undefined, undefined)
    return ids.map((id, i) => ({ id, name: names[i]! })).sort((a, b) => a.id - b.id)
  }

  hasIndom(indom: Indom): boolean {
    return this.indoms.includes(indom)
  }

  /** Returns the error message for an unknown domain. */
  unknownIndom(indom: Indom): string {
    return `Instance domain ${indomStr(indom)}: ${new PcpError('PM_ERR_INDOM_LOG', '').text}`
  }
}

/** Returns whether two external names are the same instance: they match up to the first blank. */
export function isSameInstance(a: string, b: string): boolean {
  return a === b || firstWord(a) === firstWord(b)
}

/** Returns the instances that a name in a rule means: the exact match, else all that match up to the first blank. */
export function namedInstances(instances: readonly KnownInstance[], name: string): readonly KnownInstance[] {
  const whole = instances.filter((one) => one.name === name)
  return whole.length > 0 ? whole : instances.filter((one) => isSameInstance(one.name, name))
}
