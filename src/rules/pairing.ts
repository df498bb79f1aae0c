/** Pairs the cells of two operands by host and instance; a single cell pairs with all. docs/reference/pmie.md */
import type { Cell, Layout } from './node.ts'

/** How to iterate over two operands. Without index arrays, stride 0 repeats the first cell and 1 advances. */
export interface Pairing {
  readonly layout: Layout
  readonly leftStride: 0 | 1
  readonly rightStride: 0 | 1
  /** Cells of the operands for each cell of the result; undefined: by stride. */
  readonly left: Int32Array | undefined
  readonly right: Int32Array | undefined
}

/** Pairs the cells of two layouts. */
export function pair(left: Layout, right: Layout): Pairing {
  if (left === right)
    return { layout: left, leftStride: 1, rightStride: 1, left: undefined, right: undefined }
  if (right.length === 1 && left.length !== 1) return byStride(left, 1, 0)
  if (left.length === 1 && right.length !== 1) return byStride(right, 0, 1)
  if (left.length === 1) return byStride(detail(left[0]!) >= detail(right[0]!) ? left : right, 1, 1)
  if (left.length === right.length && left.every((cell, i) => isSame(cell, right[i]!)))
    return byStride(left, 1, 1)
  const [main, other] = left.length >= right.length ? [left, right] : [right, left]
  return byName(main, other, main === left)
}

function byStride(layout: Layout, leftStride: 0 | 1, rightStride: 0 | 1): Pairing {
  return { layout, leftStride, rightStride, left: undefined, right: undefined }
}

function byName(main: Layout, other: Layout, isMainLeft: boolean): Pairing {
  const found = new Map(other.map((cell, i) => [keyOf(cell.host?.name, cell.inst), i]))
  const cells: Cell[] = []
  const ofMain: number[] = []
  const ofOther: number[] = []
  for (const [i, cell] of main.entries()) {
    const at =
      found.get(keyOf(cell.host?.name, cell.inst)) ??
      found.get(keyOf(cell.host?.name, undefined)) ??
      found.get(keyOf(undefined, cell.inst))
    if (at === undefined) continue
    cells.push(cell)
    ofMain.push(i)
    ofOther.push(at)
  }
  const [left, right] = isMainLeft ? [ofMain, ofOther] : [ofOther, ofMain]
  const indexes = { left: Int32Array.from(left), right: Int32Array.from(right) }
  return { layout: cells, leftStride: 1, rightStride: 1, ...indexes }
}

function keyOf(host: string | undefined, inst: string | undefined): string {
  return `${host ?? '\x01'}\x00${inst ?? '\x01'}`
}

function isSame(a: Cell, b: Cell): boolean {
  return a.host === b.host && a.inst === b.inst
}

function detail(cell: Cell): number {
  return (cell.host === undefined ? 0 : 1) + (cell.inst === undefined ? 0 : 1)
}
