/** Rewrites records with instances: as they are after each record, and from that what the output has to say. docs/formats/archive.md §4.2 */
import { cString } from '../../archive/indom-history.ts'
import { DELETED, type IndomLayout, META_INDOM_DELTA, META_INDOM_V2 } from '../../archive/meta-records.ts'
import { encodeIndom } from '../../archive/write/metadata.ts'
import { WrittenIndoms } from '../../archive/write/written-indoms.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { Indom } from '../../model/ids.ts'
import { isSameInstance } from './known.ts'
import type { Plan } from './plan.ts'
import { changesIndom, changesInstances, type IndomRule } from './rules.ts'

/** Takes a record, behind those it has taken. */
export type WriteRecord = (record: Uint8Array) => void

/** A record where it stands. */
export interface MetaPlace {
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
  /** Instances by number, as the input has them after the record read last. */
  readonly #current = new Map<Indom, Map<number, string>>()
  readonly #written = new WrittenIndoms()
  readonly #targets = new Map<Indom, Indom[]>()
  readonly #untouched = new Map<Indom, boolean>()

  constructor(plan: Plan, write: WriteRecord) {
    this.#plan = plan
    this.#write = write
  }

  /** The numbers a domain has in the output: none when it is left out, two when one is a copy. */
  targets(indom: Indom): Indom[] {
    let targets = this.#targets.get(indom)
    if (targets === undefined) {
      const rule = this.#plan.rules.indoms.get(indom)
      targets = rule?.to === undefined ? [indom] : rule.isDuplicate ? [indom, rule.to] : [rule.to]
      // A domain that moved is in use when its metrics moved with it.
      if (this.#plan.dropped.has(indom)) targets = targets.filter((one) => one !== indom)
      this.#targets.set(indom, targets)
    }
    return targets
  }

  /** Can a record be copied, but for its time? Not a change in a domain whose records are written anew, nor one for version 2. */
  isUntouched(indom: Indom, type: number): boolean {
    if (type === META_INDOM_V2 && this.#plan.known.version === 3) return false
    let answer = this.#untouched.get(indom)
    if (answer === undefined) {
      const { rules, dropped } = this.#plan
      const isTarget = [...rules.indoms.values()].some(({ to }) => to === indom)
      answer = !dropped.has(indom) && !isTarget && !changesIndom(rules.indoms.get(indom))
      this.#untouched.set(indom, answer)
    }
    return answer
  }

  /** Writes what becomes of a record that changes. */
  rewrite(place: MetaPlace, layout: IndomLayout, at: Timestamp): void {
    const instances = this.#read(place, layout)
    const targets = this.targets(layout.indom)
    if (targets.length === 0 || instances.size === 0) return
    const rule = this.#plan.rules.indoms.get(layout.indom)
    const changed = changesInstances(rule) ? changedInstances(rule!, instances) : instances
    const { version } = this.#plan.known
    for (const target of targets) {
      const of = rule?.isDuplicate && target === layout.indom ? instances : changed
      const change = this.#written.change(version, target, [...of.keys()], [...of.values()], true)
      if (change === undefined) continue
      this.#write(encodeIndom(version, at, target, change.instances, change.isDelta))
      this.#written.written(target, change)
    }
  }

  #read({ view, type }: MetaPlace, { indom, count, ids, offsets, names }: IndomLayout): Map<number, string> {
    const isDelta = type === META_INDOM_DELTA
    const instances = new Map(isDelta ? this.#current.get(indom) : undefined)
    for (let i = 0; i < count; i++) {
      const id = view.getInt32(ids + 4 * i)
      const offset = view.getInt32(offsets + 4 * i)
      if (offset === DELETED) instances.delete(id)
      // What is there already keeps its name, as readers have it.
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

/** A name after the replacements of its domain, or without what it tells. */
function replacedName({ replacements, isRedacted }: IndomRule, name: string): string {
  let result = name
  for (const { pattern, text } of replacements) result = result.replace(pattern, text)
  if (!isRedacted) return result
  const blank = result.indexOf(' ')
  return `${blank === -1 ? result : result.slice(0, blank)} [redacted]`
}
