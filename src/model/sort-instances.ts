/** Sorting values by instance. pmSortInstances(3) */
import type { FetchResult, ValueSet } from './values.ts'

/** Returns the result with the values of each set in ascending order of instance. Sorted sets stay the same objects. @see pmSortInstances(3) */
export function sortInstances(result: FetchResult): FetchResult {
  return { ...result, sets: result.sets.map(sortedSet) }
}

function sortedSet(set: ValueSet): ValueSet {
  if (set.inst.every((inst, i) => i === 0 || set.inst[i - 1]! <= inst)) return set
  const order = Array.from(set.inst.keys()).sort((a, b) => set.inst[a]! - set.inst[b]!)
  return {
    ...set,
    inst: Int32Array.from(order, (i) => set.inst[i]!),
    word: Int32Array.from(order, (i) => set.word[i]!),
  }
}
