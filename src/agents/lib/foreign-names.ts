/** Converts names and labels from outside PCP to valid ones. docs/reference/agent-toolkit.md */
import type { Labels, LabelValue } from '../../pmda/define.ts'

/** Half of the limit of a label set, because labels and optional labels of an object become one set. */
const MAX_LABELS = 120
/** Characters of names and values: at most six bytes each, of the 64 KiB of a set. */
const MAX_TEXT = 5000
const MAX_NAME = 200
const MAX_VALUE = 1000

/**
 * Replaces all but letters, digits and underscores in names; of names that become equal the last wins. Labels beyond the
 * limit are left out and long values are cut, so that the other labels are kept.
 */
export function foreignLabels(entries: Iterable<readonly [name: string, value: LabelValue]>): Labels {
  const labels = new Map<string, LabelValue>()
  let room = MAX_TEXT
  for (const [given, value] of entries) {
    const name = labelName(given)
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    room -= name.length
    if (room <= 0 || labels.size >= MAX_LABELS) break
    const length = Math.min(text.length, room, MAX_VALUE)
    labels.set(name, text.length === length ? value : text.slice(0, length))
    room -= length
  }
  return Object.fromEntries(labels)
}

/** Returns a valid label name: `http.route` becomes `http_route`, and `1` becomes `key_1`. */
export function labelName(name: string): string {
  const word = name.slice(0, MAX_NAME).replace(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z_]/.test(word) ? word : `key_${word}`
}

/** Set of metric names, none of which is also a group of others. */
export class FreeNames {
  readonly #leaves = new Set<string>()
  readonly #groups = new Set<string>()

  /** Adds all names; returns false and adds none if any of them conflicts. */
  add(...names: readonly string[]): boolean {
    if (names.some((name) => !this.#isFree(name))) return false
    for (const name of names) {
      this.#leaves.add(name)
      for (const group of groupsOf(name)) this.#groups.add(group)
    }
    return true
  }

  #isFree(name: string): boolean {
    if (this.#leaves.has(name) || this.#groups.has(name)) return false
    return !groupsOf(name).some((group) => this.#leaves.has(group))
  }
}

/** Groups above a name. */
function groupsOf(name: string): readonly string[] {
  const groups: string[] = []
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
    groups.push(name.slice(0, dot))
  return groups
}
