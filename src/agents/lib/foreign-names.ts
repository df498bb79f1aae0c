/** Names and labels from outside PCP: made into those that it can carry. docs/agents.md */
import type { Labels, LabelValue } from '../../pmda/define.ts'

/** Half of what one set may have, because labels and annotations of one thing become one set. */
const MAX_LABELS = 120
/** Characters of names and values: at worst six bytes each, of 64 KiB that a set may have. */
const MAX_TEXT = 5000
const MAX_NAME = 200
const MAX_VALUE = 1000

/**
 * Names become letters, digits and underscores. Of names that become equal the last one stays. Labels beyond what a set can
 * hold are left out, long values are cut: a label too many must not cost the others their place.
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

/** A name as a label may have it: `http.route` is `http_route`, and `1` is `key_1`. */
export function labelName(name: string): string {
  const word = name.slice(0, MAX_NAME).replace(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z_]/.test(word) ? word : `key_${word}`
}

/** Names of which none is a part of another, as metrics and groups of metrics must be. */
export class FreeNames {
  readonly #leaves = new Set<string>()
  readonly #groups = new Set<string>()

  /** Takes names all together; false when any has no place, and then none is taken. */
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

/** The groups above a name. */
function groupsOf(name: string): readonly string[] {
  const groups: string[] = []
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
    groups.push(name.slice(0, dot))
  return groups
}
