import { expect, test } from 'vitest'
import { axisLabels, axisWidth, NARROWEST } from '../../src/ui/chart/axis.ts'
import type { Measure } from '../../src/ui/view/measure.ts'

const plain: Measure = { kind: 'number', factor: 1, suffix: '' }
const perSecond: Measure = { ...plain, suffix: '/s' }
const bytes: Measure = { kind: 'bytes', factor: 1, suffix: '/s' }
const share: Measure = { kind: 'share', factor: 1, suffix: '' }

test.each([
  [plain, [0, 2.5, 5, 7.5, 10], ['0', '2.5', '5.0', '7.5', '10.0']],
  [perSecond, [0, 500, 1000], ['0', '0.5', '1.0 k/s']],
  [bytes, [0, 512 * 1024, 1024 * 1024], ['0', '0.5', '1.0 MiB/s']],
  [share, [0, 0.25, 0.5, 0.75, 1], ['0', '25', '50', '75', '100 %']],
  [plain, [-0.1, 0, 0.1, 0.2, 0.30000000000000004], ['-0.1', '0', '0.1', '0.2', '0.3']],
  [plain, [0, 0.0002, 0.0004], ['0', '0.0002', '0.0004']],
  [plain, [], []],
])('tick labels share decimals and the unit of the highest one: %o %o', (measure, marks, labels) => {
  expect(axisLabels(measure, marks)).toEqual(labels)
})

test('an axis of zeros has no scale: only 0 is labelled', () => {
  expect(axisLabels(perSecond, [0, 0.25, 0.5], true)).toEqual(['0', '', ''])
})

test('labels of all usual scales fit into one width, so that plots of a column line up', () => {
  const scales = [
    [bytes, 2],
    [perSecond, 10],
  ] as const
  const labels = scales.flatMap(([measure, base]) =>
    Array.from({ length: 12 }, (_, i) => base ** i).flatMap((step) =>
      [2, 4, 6].flatMap((count) =>
        axisLabels(
          measure,
          Array.from({ length: count }, (_, i) => i * step),
        ),
      ),
    ),
  )
  expect(labels).toContain('1.5 KiB/s')
  expect(labels).toContain('100 M/s')
  expect(labels.filter((label) => axisWidth(label) > NARROWEST)).toEqual([])
  // 97 pixels in the widest usual font, DejaVu Sans.
  expect(axisWidth('1000 mm / count')).toBeGreaterThan(97)
})
