/** Selecting a span on a chart: by dragging and by the keyboard. */
import { expect, test } from 'vitest'
import { isSelecting, middleOf, spanBetween, startsSpan, stepped } from '../../src/ui/chart/selected-span.ts'
import { shadeOf } from '../../src/ui/chart/span-shade.ts'

const window = { from: 1000, to: 1300 }

test('dragging in either direction selects, within the window; a click does not', () => {
  expect(spanBetween(window, 0.5, 0.25)).toEqual({ from: 1075, to: 1150 })
  expect(spanBetween(window, 0.5, 1.2)).toEqual({ from: 1150, to: 1300 })
  expect(spanBetween(window, 0.5, 0.501)).toBeUndefined()
})

test('a drag selects with Shift, or after the button for it, if the first button of the pointer is pressed', () => {
  const press = (button: number, shiftKey: boolean) => startsSpan({ button, shiftKey } as PointerEvent)
  expect([press(0, false), press(0, true), press(2, true)]).toEqual([false, true, false])
  isSelecting.value = true
  expect([press(0, false), press(2, false)]).toEqual([true, false])
  isSelecting.value = false
})

test('the keyboard selects the middle, moves the span and its end, and stays within the window', () => {
  const middle = middleOf(window)
  expect(middle.from).toBeCloseTo(1100)
  expect(middle.to).toBeCloseTo(1200)
  expect(stepped({ from: 1100, to: 1200 }, window, 1, 'span')).toEqual({ from: 1110, to: 1210 })
  expect(stepped({ from: 1100, to: 1200 }, window, -1, 'end')).toEqual({ from: 1100, to: 1190 })
  expect(stepped({ from: 1195, to: 1295 }, window, 1, 'span')).toEqual({ from: 1200, to: 1300 })
  expect(stepped({ from: 1003, to: 1103 }, window, -1, 'span')).toEqual({ from: 1000, to: 1100 })
  const { from, to } = stepped({ from: 1100, to: 1102 }, window, -1, 'end')
  expect(to).toBeGreaterThan(from)
})

test('the shade is the visible part of the span', () => {
  expect(shadeOf({ from: 1075, to: 1150 }, window)).toEqual({ left: '25%', width: '25%' })
  expect(shadeOf({ from: 900, to: 1150 }, window)).toEqual({ left: '0%', width: '50%' })
  expect(shadeOf({ from: 900, to: 1000 }, window)).toBeUndefined()
  expect(shadeOf(undefined, window)).toBeUndefined()
})
