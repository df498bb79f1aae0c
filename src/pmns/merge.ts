/** Joining name spaces, and the order in which files of them are joined. docs/formats/pmns.md §7 */
import { PM_ID_NULL, type Pmid } from '../model/ids.ts'
import type { Pmns } from './tree.ts'

/** A name that two name spaces disagree about. */
export interface MergeConflict {
  readonly name: string
  /** PM_ID_NULL where the name stays or becomes a non-leaf. */
  readonly kept: Pmid
  readonly ignored: Pmid
  /** The metric that was there first had to go, because the other name space has names below it. */
  readonly isDisplaced: boolean
}

/**
 * Adds the names of `from` to `into`, after their siblings. What `into` says of a name wins, but a leaf of `into` makes
 * room for names below it. Both are told to `onConflict`. @see pmnsmerge(1)
 */
export function mergePmns(into: Pmns, from: Pmns, onConflict: (conflict: MergeConflict) => void): void {
  let above: string | undefined
  from.walk('', (name, id) => {
    const old = into.idOf(name)
    if (old !== undefined) {
      if (old !== id) onConflict({ name, kept: old, ignored: id, isDisplaced: false })
      return
    }
    const parent = name.slice(0, Math.max(0, name.lastIndexOf('.')))
    if (parent !== above) makeRoom(into, parent, onConflict)
    above = parent
    into.add(name, id)
  })
}

/** Removes a leaf at or above a name that is to become a non-leaf. */
function makeRoom(into: Pmns, path: string, onConflict: (conflict: MergeConflict) => void): void {
  for (let dot = 0; dot < path.length; ) {
    const next = path.indexOf('.', dot + 1)
    dot = next === -1 ? path.length : next
    const name = path.slice(0, dot)
    const id = into.idOf(name)
    if (id === undefined) return
    if (id !== PM_ID_NULL) {
      into.remove(name)
      onConflict({ name, kept: PM_ID_NULL, ignored: id, isDisplaced: true })
    }
  }
}

const STAMP = /^#define[ \t]+_DATESTAMP(?:[ \t]+(\S*))?[ \t]*$/m

/** What a file's first `#define _DATESTAMP` says, usually `yyyymmdd`; undefined without one. */
export function datestamp(text: string): string | undefined {
  const found = STAMP.exec(text)
  return found === null ? undefined : (found[1] ?? '')
}

/** Orders files as they are joined: those without datestamp first, then by datestamp, otherwise as given. */
export function byDatestamp<T extends { readonly text: string }>(files: readonly T[]): T[] {
  return files
    .map((file) => ({ file, stamp: datestamp(file.text) }))
    .sort(({ stamp: a }, { stamp: b }) =>
      a === b ? 0 : a === undefined ? -1 : b === undefined ? 1 : a < b ? -1 : 1,
    )
    .map(({ file }) => file)
}
