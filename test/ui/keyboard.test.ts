/** Parts of the page that take the keyboard's focus and give it back. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { borrowFocus, hasModifier } from '../../src/ui/keyboard.ts'

class FakeElement {
  readonly #children: readonly FakeElement[]
  constructor(...children: FakeElement[]) {
    this.#children = children
  }
  contains(other: unknown): boolean {
    return other === this || this.#children.some((child) => child === other)
  }
  focus(): void {
    page.activeElement = this
  }
}

let page: { activeElement: FakeElement | null; body: FakeElement }

beforeEach(() => {
  page = { activeElement: null, body: new FakeElement() }
  vi.stubGlobal('document', page)
  vi.stubGlobal('HTMLElement', FakeElement)
})
afterEach(() => void vi.unstubAllGlobals())

test.each([
  ['is restored from the part', 'bar', 'chart'],
  ['is restored from a button in it', 'button', 'chart'],
  ['is restored if nothing has it', 'body', 'chart'],
  ['stays where the user has moved it', 'select', 'select'],
] as const)('focus %s', (_, last, expected) => {
  const [button, chart, select] = [new FakeElement(), new FakeElement(), new FakeElement()]
  const elements = { button, chart, select, bar: new FakeElement(button), body: page.body }
  chart.focus()
  const giveBack = borrowFocus(elements.bar as unknown as HTMLElement)
  expect(page.activeElement).toBe(elements.bar)
  elements[last].focus()
  giveBack()
  expect(page.activeElement).toBe(elements[expected])
})

test('shortcuts of the browser have a modifier', () => {
  const none = { altKey: false, ctrlKey: false, metaKey: false }
  expect(hasModifier(none)).toBe(false)
  for (const key of ['altKey', 'ctrlKey', 'metaKey']) expect(hasModifier({ ...none, [key]: true })).toBe(true)
})
