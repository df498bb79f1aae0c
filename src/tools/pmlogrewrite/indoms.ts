/** Rewrites instance domain records by tracking each domain's instances. docs/formats/archive.md §4.2 */
import { cString } from '../../archive/indom-history.ts'
import { DELETED, type IndomLayout, META_INDOM_DELTA } from '../../archive/meta-records.ts'
import { encodeIndom } from '../../archive/write/metadata.ts'
import { WrittenIndoms } from '../../archive/write/written-indoms.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { Indom } from '../../model/ids.ts'
import { isSameInstance } from './known.ts'
import type { Plan } from './plan.ts'
import { changesIndom, changesInstances, type IndomRule } from './rules.ts'

/** Appends a record to the output. */
export type WriteRecord = (record: Uint8Array) => void

/** A metadata record in its file. */
export interface MetadataRecord {
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly at: number
  readonly length: number
  readonly type: number
  /** For messages. */
  readonly path: string
}

/** Rewrites the records of all domains. */
export class IndomRewriter {
  readonly #plan: Plan
  readonly #write: WriteRecord
  /** Instances by id, as of the last input record. */
  readonly #current = new Map<Indom, Map<number, string>>()
  readonly #written: WrittenIndoms
  readonly #targets = new Map<Indom, Indom[]>()
  readonly #untouched = new Map<Indom, boolean>()
  readonly #unordered = new Map<Indom, boolean>()

  constructor(plan: Plan, write: WriteRecord) {
    this.#plan = plan
    this.#write = write
    this.#written = new WrittenIndoms(plan.known.version)
  }

  /** Returns a domain's numbers in the output: none if dropped, two if duplicated. */
  targets(indom: Indom): Indom[] {
    let targets = this.#targets.get(indom)
    if (targets === undefined) {
      const rule = this.#plan.rules.indoms.get(indom)
      targets = rule?.to === undefined ? [indom] : rule.isDuplicate ? [indom, rule.to] : [rule.to]
      // A renumbered domain stays in use only if metrics still refer to it.
      if (this.#plan.dropped.has(indom)) targets = targets.filter((one) => one !== indom)
      this.#targets.set(indom, targets)
    }
    return targets
  }

  /**
   * Returns whether the records of a domain can be copied except for their time. Those of changed domains, of domains with misplaced deltas,
   * and of domains with records of version 2 for version 3 cannot: changes are relative to the last record that was not copied.
   */
  isUntouched(indom: Indom): boolean {
    let answer = this.#untouched.get(indom)
    if (answer === undefined) {
      const { known, rules, dropped } = this.#plan
      const isConverted = known.version === 3 && known.oldIndoms.has(indom)
      const isTarget = [...rules.indoms.values()].some(({ to }) => to === indom)
      const isChanged = dropped.has(indom) || isTarget || changesIndom(rules.indoms.get(indom))
      answer = !isConverted && !isChanged && !known.order.hasMisplacedDelta(indom)
      this.#untouched.set(indom, answer)
    }
    return answer
  }

  /** Rewrites a changed record. `inputTime`: its time in the input, `at`: in the output. */
  rewrite(place: MetadataRecord, layout: IndomLayout, inputTime: Timestamp, at: Timestamp): void {
    const instances = this.#read(place, layout)
    const targets = this.targets(layout.indom)
    if (targets.length === 0 || instances.size === 0) return
    const rule = this.#plan.rules.indoms.get(layout.indom)
    const changed = changesInstances(rule) ? changedInstances(rule!, instances) : instances
    const { known } = this.#plan
    const isShared = known.order.isShared(layout.indom, inputTime)
    for (const target of targets) {
      const of = rule?.isDuplicate && target === layout.indom ? instances : changed
      const [ids, names] = [[...of.keys()], [...of.values()]]
      // Instances of a shared time keep it, so that they are those of the values with this time.
      const isFull = isShared || this.#isUnordered(target)
      const change = isFull
        ? this.#written.full(at, ids, names)
        : this.#written.change(at, target, ids, names, true)
      if (change === undefined) continue
      this.#write(encodeIndom(known.version, change.at, target, change.instances, change.isDelta))
      this.#written.commit(target, change)
    }
  }

  /** Returns whether records for a domain of the output may have decreasing times, or times of several sources. */
  #isUnordered(target: Indom): boolean {
    let answer = this.#unordered.get(target)
    if (answer === undefined) {
      const { indoms, order } = this.#plan.known
      const sources = indoms.filter((indom) => this.targets(indom).includes(target))
      answer = sources.length > 1 || sources.some((indom) => order.isUnordered(indom))
      this.#unordered.set(target, answer)
    }
    return answer
  }

  #read(
    { view, type }: MetadataRecord,
    { indom, count, ids, offsets, names }: IndomLayout,
  ): Map<number, string> {
    const isDelta = type === META_INDOM_DELTA
    const instances = new Map(isDelta ? this.#current.get(indom) : undefined)
    for (let i = 0; i < count; i++) {
      const id = view.getInt32(ids + 4 * i)
      const offset = view.getInt32(offsets + 4 * i)
      if (offset === DELETED) instances.delete(id)
      // As for readers, an existing instance keeps its name.
      else if (!instances.has(id)) instances.set(id, cString(view, names + offset))
    }
    this.#current.set(indom, instances)
    return instances
  }
}

function changedInstances(indomRule: IndomRule, instances: ReadonlyMap<number, string>): Map<number, string> {
  const changed = new Map<number, string>()
  for (const [id, name] of instances) {
    const rule = indomRule.instances.get(id)
    if (rule?.isDeleted) continue
    const isRenamed = rule?.newName !== undefined && isSameInstance(rule.name, name)
    changed.set(rule?.newId ?? id, isRenamed ? rule.newName! : replacedName(indomRule, name))
  }
  return changed
}

/** Applies the replacements of a domain to a name, or redacts it. */
function replacedName({ replacements, isRedacted }: IndomRule, name: string): string {
  let result = name
  for (const { pattern, text } of replacements) result = result.replace(pattern, text)
  if (!isRedacted) return result
  const blank = result.indexOf(' ')
  return `${blank === -1 ? result : result.slice(0, blank)} [redacted]`
}
