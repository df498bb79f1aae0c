/** Lines with more samples than pixels: no spike is lost. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  drawBand,
  drawEnvelope,
  extentOf,
  type LinePosition,
  type Path,
} from '../../src/ui/chart/envelope.ts'
import type { Columns } from '../../src/ui/data/line.ts'

type Corner = readonly [x: number, y: number]

type Values = Columns<number | null | undefined>

/** Returns the runs that are drawn; heights are values, and `perPixel` samples share a column. */
function drawn(line: Values, perPixel: number, base?: number): Corner[][] {
  return stretches(line, perPixel, (pen, stretch) => drawEnvelope(pen, line, stretch, base))
}

function stretches(
  { values }: Values,
  perPixel: number,
  draw: (pen: Path, stretch: LinePosition) => void,
): Corner[][] {
  const all: Corner[][] = []
  const pen = {
    moveTo: (x: number, y: number) => all.push([[x, y]]),
    lineTo: (x: number, y: number) => all.at(-1)!.push([x, y]),
  }
  const x = (index: number): number => Math.floor(index / perPixel)
  draw(pen, { from: 0, to: values.length - 1, x, y: (value) => value })
  return all
}

test('a line goes through minimum and maximum of each pixel column', () => {
  const sample = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.nat(99), fc.nat(99)) },
    fc.constantFrom(null, undefined),
  )
  fc.assert(
    fc.property(fc.array(sample), fc.integer({ min: 1, max: 7 }), (samples, perPixel) => {
      const low = samples.map((one) => one && Math.min(...one))
      const high = samples.map((one) => one && Math.max(...one))
      const corners = drawn({ values: low, low, high }, perPixel).flat()
      for (let column = 0; column * perPixel < samples.length; column++) {
        const ys = corners.filter(([x]) => x === column).map(([, y]) => y)
        const values = samples
          .slice(column * perPixel, (column + 1) * perPixel)
          .flatMap((each) => (each == null ? [] : [...each]))
        expect(ys.length > 0).toBe(values.length > 0)
        if (values.length === 0) continue
        expect([Math.min(...ys), Math.max(...ys)]).toEqual([Math.min(...values), Math.max(...values)])
      }
      expect(extentOf([{ values: low, low, high }], 0, samples.length - 1)).toEqual(
        corners.length === 0
          ? undefined
          : [Math.min(...corners.map(([, y]) => y)), Math.max(...corners.map(([, y]) => y))],
      )
    }),
  )
})

test('a line is interrupted by gaps, but not by samples of other lines', () => {
  const values = [1, undefined, 2, null, 3, 4]
  expect(drawn({ values }, 1)).toEqual([
    [
      [0, 1],
      [0, 1],
      [2, 2],
    ],
    [
      [4, 3],
      [4, 3],
      [5, 4],
    ],
  ])
})

test('the end nearer to the previous column is drawn first', () => {
  const line = { values: [8, 5, 5], low: [8, 1, 1], high: [8, 9, 9] }
  expect(drawn(line, 1)[0]!.map(([, y]) => y)).toEqual([8, 8, 9, 1, 1, 9])
})

test('an area extends from the maximum to its base', () => {
  const line = { values: [5, 5], low: [1, 1], high: [9, 7] }
  expect(drawn(line, 1, 0)).toEqual([
    [
      [0, 0],
      [0, 9],
      [1, 7],
      [1, 0],
    ],
  ])
})

test('a band fills the width of its columns, and a single spike has its full height', () => {
  const line = { values: [5, 6, null, 5], low: [4, 4, null, 1], high: [6, 90, null, 9] }
  expect(stretches(line, 1, (pen, stretch) => drawBand(pen, line, stretch))).toEqual([
    [
      [-0.5, 6],
      [0.5, 6],
      [0.5, 90],
      [1.5, 90],
      [1.5, 4],
      [0.5, 4],
      [0.5, 4],
      [-0.5, 4],
    ],
    [
      [2.5, 9],
      [3.5, 9],
      [3.5, 1],
      [2.5, 1],
    ],
  ])
})
