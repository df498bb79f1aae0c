/** Where instances are in value sets, without a search for each: from one reading to the next thousands may have vanished. */

/** Below this length a search is cheaper than a table. */
const SHORT = 16

/** Tables of arrays in which an instance was looked for; sets share arrays that did not change. */
const tables = new WeakMap<Int32Array, ReadonlyMap<number, number>>()

/** Returns where an instance is, -1 for nowhere. `guess` is where it mostly is: its place in the set before. */
export function placeOf(inst: Int32Array, instance: number, guess: number): number {
  if (inst[guess] === instance) return guess
  if (inst.length < SHORT) return inst.indexOf(instance)
  let places = tables.get(inst)
  if (places === undefined) {
    const table = new Map<number, number>()
    for (let i = inst.length - 1; i >= 0; i--) table.set(inst[i]!, i)
    places = table
    tables.set(inst, places)
  }
  return places.get(instance) ?? -1
}
