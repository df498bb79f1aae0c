/** Metadata of one or several archives. docs/formats/archive.md §4, §11 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import { type Indom, indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../model/ids.ts'
import { LABEL_DOMAIN, type LabelSet } from '../model/labels.ts'
import type { InstanceQuery, Instances, LabelQuery, TextQuery } from '../model/source.ts'
import type { Pmns } from '../pmns/tree.ts'
import { IndomHistory, type IndomSnapshot } from './indom-history.ts'
import { LabelHistory } from './label-history.ts'
import {
  badMeta,
  checkDesc,
  checkIndom,
  checkLabels,
  decodeDesc,
  decodeHelp,
  forEachMetaRecord,
  labelKey,
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
} from './meta-records.ts'
import { MetricNames } from './metric-names.ts'
import { readStamp } from './stamp.ts'

/** Selects metrics and instance domains. */
export type MetadataFilter = (id: Pmid | Indom) => boolean

/** Position of a record in one of the files. */
interface RecordLocation {
  readonly view: DataView
  readonly at: number
  readonly length: number
}

/**
 * Metadata of all members, read once. Texts are decoded on demand. In parameters `at`, undefined means the archive's whole
 * life.
 */
export class Metadata {
  readonly #descs = new Map<Pmid, MetricDesc>()
  readonly #names = new MetricNames()
  readonly #indoms = new Map<Indom, IndomHistory>()
  readonly #labels = new Map<number, Map<number, LabelHistory>>()
  /** Text records by file: more than half of all records, but most commands need none of them. */
  readonly #textRecords: { readonly view: DataView; readonly places: number[] }[] = []
  #textIndex: Map<number, Map<number, RecordLocation>> | undefined
  readonly #unions = new Map<Indom, Instances>()
  readonly #isLeftOut: MetadataFilter

  /** `isLeftOut` selects metrics and domains to treat as not recorded. */
  constructor(isLeftOut: MetadataFilter = () => false) {
    this.#isLeftOut = isLeftOut
  }

  /**
   * Adds the records after the label of a file; `bytes` is kept. `file` is for messages. PM_ERR_LOGREC and PM_ERR_RECTYPE
   * for damage, PM_ERR_NODATA without any descriptor, PM_ERR_LOGCHANGE* for a descriptor that has changed.
   */
  add(bytes: Uint8Array, start: number, file: string): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let descs = 0
    const texts: number[] = []
    forEachMetaRecord(view, start, file, (at, length, type) => {
      if (type === META_TEXT) {
        if (length < 20) throw badMeta(file, at, `${length} bytes are too few for a text`)
        texts.push(at)
      } else if (type === META_DESC) {
        descs++
        this.#addDesc(view, at, length, file)
      } else this.#addRecord({ view, at, length }, type, file)
    })
    this.#textRecords.push({ view, places: texts })
    this.#textIndex = undefined
    if (descs === 0) throw new PcpError('PM_ERR_NODATA', `${file}: it describes no metrics`)
  }

  #addRecord(place: RecordLocation, type: number, file: string): void {
    if (type === META_INDOM_V2 || type === META_INDOM || type === META_INDOM_DELTA)
      this.#addIndom(place, type, file)
    else if (type === META_LABEL_V2 || type === META_LABEL) this.#addLabels(place, type, file)
    else throw new PcpError('PM_ERR_RECTYPE', `${file}: record at byte ${place.at} has unknown type ${type}`)
  }

  #addDesc(view: DataView, at: number, length: number, file: string): void {
    checkDesc(view, at, length, file)
    const desc = decodeDesc(view, at)
    if (this.#isLeftOut(desc.pmid)) return
    const known = this.#descs.get(desc.pmid)
    if (known === undefined) this.#descs.set(desc.pmid, desc)
    else checkSame(known, desc, file)
    this.#names.add(view, at)
  }

  #addIndom({ view, at, length }: RecordLocation, type: number, file: string): void {
    const layout = checkIndom(view, at, length, type, file)
    if (layout.count === 0 || this.#isLeftOut(layout.indom)) return
    let history = this.#indoms.get(layout.indom)
    if (history === undefined) {
      history = new IndomHistory()
      this.#indoms.set(layout.indom, history)
    }
    const stamp = readStamp(view, at + 8, type === META_INDOM_V2 ? 2 : 3)
    history.add(view, layout, stamp, type === META_INDOM_DELTA)
  }

  #addLabels({ view, at, length }: RecordLocation, type: number, file: string): void {
    const head = checkLabels(view, at, length, type, file)
    const { level, id } = labelTarget(view, head)
    const byId = childMap(this.#labels, level)
    if (level > LABEL_DOMAIN && this.#isLeftOut(id)) return
    let history = byId.get(id)
    if (history === undefined) {
      history = new LabelHistory()
      byId.set(id, history)
    }
    history.add({ view, at, length, type, ...readStamp(view, at + 8, type === META_LABEL_V2 ? 2 : 3) })
  }

  /** Position of the text of each kind and level, by metric or domain; the last one read applies. */
  get #texts(): ReadonlyMap<number, ReadonlyMap<number, RecordLocation>> {
    if (this.#textIndex !== undefined) return this.#textIndex
    this.#textIndex = new Map()
    for (const { view, places } of this.#textRecords)
      for (const at of places) {
        const what = view.getInt32(at + 8)
        const hasLevel = (what & (TEXT_ONELINE | TEXT_HELP)) !== 0
        const hasKind = (what & (TEXT_PMID | TEXT_INDOM)) !== 0
        if (hasLevel && hasKind)
          childMap(this.#textIndex, what).set(view.getUint32(at + 12), {
            view,
            at,
            length: view.getInt32(at),
          })
      }
    return this.#textIndex
  }

  /** Descriptors by PMID. */
  get descs(): ReadonlyMap<Pmid, MetricDesc> {
    return this.#descs
  }

  /**
   * The name space, built on demand. As in PCP, the first of two PMIDs of a name applies, and siblings are in reverse order of their first
   * appearance.
   */
  get names(): Pmns {
    return this.#names.tree
  }

  /** As `names.lookup`, but the first few calls do not build the name space. */
  lookup(name: string): Outcome<Pmid> {
    return this.#names.lookup(name)
  }

  /** As `names.traverse`; a single metric is found without building the name space. */
  traverse(name: string): readonly string[] {
    return this.#names.traverse(name)
  }

  /** Instance domains with any instances at any time. */
  get indoms(): readonly Indom[] {
    return [...this.#indoms.keys()]
  }

  /** Returns the history of a domain, oldest first; [] for an unknown one. Of equal times the last in the list applies. */
  snapshots(indom: Indom): readonly IndomSnapshot[] {
    return this.#indoms.get(indom)?.snapshots ?? []
  }

  /** Returns the snapshot that applies at a time. */
  snapshotAt(indom: Indom, at: Timestamp): IndomSnapshot | undefined {
    return this.#indoms.get(indom)?.at(at)
  }

  /**
   * Returns all instances, the one with an id, or the one with a name, else the first whose name equals it up to a blank. Over
   * the whole life newer snapshots come first. PM_ERR_INDOM for PM_INDOM_NULL, PM_ERR_INDOM_LOG for a domain unknown
   * (at that time), PM_ERR_INST_LOG for an unknown instance.
   * @see pmGetInDom(3), pmLookupInDom(3), pmNameInDom(3), pmGetInDomArchive(3)
   */
  instances(indom: Indom, query: InstanceQuery, at: Timestamp | undefined): Instances {
    const found = this.#snapshotsFor(indom, at)
    if (query === undefined) return at === undefined ? this.#union(indom, found) : listed(indom, found[0]!)
    for (const snapshot of found) {
      const i = 'id' in query ? snapshot.ids.indexOf(query.id) : indexOfName(snapshot, query.name)
      if (i !== -1) return { indom, ids: [snapshot.ids[i]!], names: [snapshot.name(i)] }
    }
    const which = 'id' in query ? `Instance ${query.id}` : `Instance "${query.name}"`
    throw new PcpError('PM_ERR_INST_LOG', `${which} of ${indomStr(indom)} is not in the archive${when(at)}`)
  }

  /** Returns the snapshots to search, newest first; at least one. */
  #snapshotsFor(indom: Indom, at: Timestamp | undefined): readonly IndomSnapshot[] {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM', 'PM_INDOM_NULL has no instances')
    const history = this.#indoms.get(indom)
    if (history !== undefined && at === undefined) return [...history.snapshots].reverse()
    const snapshot = at === undefined ? undefined : history?.at(at)
    if (snapshot !== undefined) return [snapshot]
    throw new PcpError(
      'PM_ERR_INDOM_LOG',
      `Instance domain ${indomStr(indom)} is not in the archive${when(at)}`,
    )
  }

  #union(indom: Indom, newestFirst: readonly IndomSnapshot[]): Instances {
    const known = this.#unions.get(indom)
    if (known !== undefined) return known
    const names = new Map<number, string>()
    for (const snapshot of newestFirst) {
      for (let i = 0; i < snapshot.ids.length; i++) {
        const id = snapshot.ids[i]!
        if (!names.has(id)) names.set(id, snapshot.name(i))
      }
    }
    const union = { indom, ids: [...names.keys()], names: [...names.values()] }
    this.#unions.set(indom, union)
    return union
  }

  /** Returns the label sets of an object at a time, or the newest; [] without labels. */
  labels(query: LabelQuery, at: Timestamp | undefined): readonly LabelSet[] {
    const { level, id } = labelKey(query.level, query.id)
    return this.#labels.get(level)?.get(id)?.at(at) ?? []
  }

  /** Returns the help text of exactly this kind and level; undefined if missing. The last one read applies. */
  text({ kind, id, level }: TextQuery): string | undefined {
    const place = this.#texts.get(textBits(kind, level))?.get(id)
    if (place === undefined) return undefined
    const { view, at, length } = place
    return decodeHelp(view, at, length)
  }

  /** Returns the metrics or domains that have a text of this kind. */
  textIds(kind: TextQuery['kind'], level: TextQuery['level']): readonly number[] {
    return [...(this.#texts.get(textBits(kind, level))?.keys() ?? [])]
  }
}

function textBits(kind: TextQuery['kind'], level: TextQuery['level']): number {
  return (kind === 'metric' ? TEXT_PMID : TEXT_INDOM) | (level === 'oneline' ? TEXT_ONELINE : TEXT_HELP)
}

function childMap<T>(maps: Map<number, Map<number, T>>, key: number): Map<number, T> {
  let map = maps.get(key)
  if (map === undefined) {
    map = new Map()
    maps.set(key, map)
  }
  return map
}

function when(at: Timestamp | undefined): string {
  return at === undefined ? '' : ` at ${at.sec}.${String(at.nsec).padStart(9, '0')}`
}

/** Bits of units that all versions of PCP write; the last eight were padding before 7. */
const UNITS_SHIFT = 8

/** Throws PM_ERR_LOGCHANGE* if a metric is described differently than before. */
export function checkSame(known: MetricDesc, desc: MetricDesc, file: string): void {
  const code =
    known.type !== desc.type
      ? 'PM_ERR_LOGCHANGETYPE'
      : known.sem !== desc.sem
        ? 'PM_ERR_LOGCHANGESEM'
        : known.indom !== desc.indom
          ? 'PM_ERR_LOGCHANGEINDOM'
          : known.units >>> UNITS_SHIFT !== desc.units >>> UNITS_SHIFT
            ? 'PM_ERR_LOGCHANGEUNITS'
            : undefined
  if (code !== undefined)
    throw new PcpError(
      code,
      `${file}: metric ${pmidStr(desc.pmid)} is described differently than in an earlier record`,
    )
}

function listed(indom: Indom, snapshot: IndomSnapshot): Instances {
  return {
    indom,
    ids: Array.from(snapshot.ids),
    names: Array.from(snapshot.ids, (_, i) => snapshot.name(i)),
  }
}

function indexOfName(snapshot: IndomSnapshot, name: string): number {
  let start = -1
  for (let i = 0; i < snapshot.ids.length; i++) {
    const one = snapshot.name(i)
    if (one === name) return i
    const blank = one.indexOf(' ')
    if (start === -1 && blank !== -1 && name.startsWith(one.slice(0, blank))) start = i
  }
  return start
}
