/** Merging name spaces, and the order of files to merge. docs/formats/pmns.md §6 */
import { PM_ID_NULL, type Pmid } from '../model/ids.ts'
import type { Pmns } from './tree.ts'

/** A name with different meanings in two name spaces. */
export interface MergeConflict {
  readonly name: string
  /** PM_ID_NULL if the name stays or becomes a non-leaf. */
  readonly kept: Pmid
  readonly ignored: Pmid
  /** The existing metric was removed, because the other name space has names below it. */
  readonly isLeafRemoved: boolean
}

/**
 * Adds the names of `from` to `into`, after their siblings and, as in PCP, the leaves of each non-leaf before its
 * non-leaves. On a conflict `into` wins, except that a leaf is removed if `from` has names below it. Both cases are reported to
 * `onConflict`. @see pmnsmerge(1)
 */
export function mergePmns(into: Pmns, from: Pmns, onConflict: (conflict: MergeConflict) => void): void {
  mergeGroup('', into, from, onConflict)
}

/** Merges the names below a non-leaf. */
function mergeGroup(
  path: string,
  into: Pmns,
  from: Pmns,
  onConflict: (conflict: MergeConflict) => void,
): void {
  const names: string[] = []
  const ids: Pmid[] = []
  const below: string[] = []
  for (const { name } of from.children(path)) {
    const full = path === '' ? name : `${path}.${name}`
    const id = from.idOf(full)!
    if (id === PM_ID_NULL) {
      below.push(full)
      continue
    }
    const old = into.idOf(full)
    if (old === undefined) {
      names.push(name)
      ids.push(id)
    } else if (old !== id) onConflict({ name: full, kept: old, ignored: id, isLeafRemoved: false })
  }
  if (names.length > 0) makeRoom(into, path, onConflict)
  into.addBelow(path, { names, ids })
  for (const group of below) mergeGroup(group, into, from, onConflict)
}

/** Removes a leaf at or above a name that becomes a non-leaf. */
function makeRoom(into: Pmns, path: string, onConflict: (conflict: MergeConflict) => void): void {
  for (let dot = 0; dot < path.length; ) {
    const next = path.indexOf('.', dot + 1)
    dot = next === -1 ? path.length : next
    const name = path.slice(0, dot)
    const id = into.idOf(name)
    if (id === undefined) return
    if (id !== PM_ID_NULL) {
      into.remove(name)
      onConflict({ name, kept: PM_ID_NULL, ignored: id, isLeafRemoved: true })
    }
  }
}

const STAMP = /^#define[ \t]+_DATESTAMP(?:[ \t]+(\S*))?[ \t]*$/m

/** Returns the value of the first `#define _DATESTAMP` in a file, usually `yyyymmdd`; undefined without one. */
export function datestamp(text: string): string | undefined {
  const found = STAMP.exec(text)
  return found === null ? undefined : (found[1] ?? '')
}

/** Sorts files for merging: first those without datestamp, then by datestamp; stable. */
export function byDatestamp<T extends { readonly text: string }>(files: readonly T[]): T[] {
  return files
    .map((file) => ({ file, stamp: datestamp(file.text) }))
    .sort(({ stamp: a }, { stamp: b }) =>
      a === b ? 0 : a === undefined ? -1 : b === undefined ? 1 : a < b ? -1 : 1,
    )
    .map(({ file }) => file)
}
