/** Views that a browser keeps. */
import { expect, test } from 'vitest'
import { KeptViews, type Store } from '../../src/ui/view/kept.ts'
import type { View } from '../../src/ui/view/view.ts'

const viewOf = (name: string, title = 'x'): View => ({
  name,
  charts: [{ id: '', title, style: 'plot', legend: true, plots: [] }],
})

function memory(): Store & { readonly items: Map<string, string> } {
  const items = new Map<string, string>()
  return {
    items,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  }
}

const names = ({ views }: KeptViews): string[] => views.value.map(({ name }) => name)

test('keeps, replaces in place, renames and forgets', () => {
  const store = memory()
  const kept = new KeptViews(() => store)
  for (const name of ['a', 'b', 'c']) kept.save(viewOf(name))
  kept.save(viewOf('b', 'new'))
  kept.rename('a', 'z')
  kept.forget('c')
  kept.forget('c')
  expect(() => kept.rename('z', 'b')).toThrow('There is a view b already')
  const again = new KeptViews(() => store)
  expect(names(again)).toEqual(['z', 'b'])
  expect(again.views.value[1]!.charts[0]!.title).toBe('new')
})

test('remembers on which view the page opens, by whatever name it has', () => {
  const store = memory()
  const kept = new KeptViews(() => store)
  kept.save(viewOf('a'))
  kept.openOn('a')
  kept.rename('a', 'b')
  expect(new KeptViews(() => store).opening.value).toBe('b')
  kept.forget('b')
  expect(new KeptViews(() => store).opening.value).toBeUndefined()
})

test('two tabs do not undo what the other has done', () => {
  const store = memory()
  const one = new KeptViews(() => store)
  const two = new KeptViews(() => store)
  one.save(viewOf('a'))
  two.save(viewOf('b'))
  expect(names(two)).toEqual(['a', 'b'])
  one.refresh()
  expect(names(one)).toEqual(['a', 'b'])
})

test('a browser that is full keeps what it has, and says so until there is room', () => {
  const store = memory()
  let isFull = false
  const kept = new KeptViews(() => ({
    ...store,
    setItem(key, value) {
      if (isFull) throw new DOMException('full', 'QuotaExceededError')
      store.setItem(key, value)
    },
  }))
  kept.save(viewOf('a'))
  isFull = true
  expect(() => kept.save(viewOf('b'))).toThrow(/no room for more/)
  kept.refresh()
  expect(names(kept)).toEqual(['a', 'b'])
  expect(names(new KeptViews(() => store))).toEqual(['a'])
  isFull = false
  kept.save(viewOf('c'))
  expect(names(new KeptViews(() => store))).toEqual(['a', 'b', 'c'])
})

test('a browser that keeps nothing has the views until the page is closed', () => {
  const kept = new KeptViews(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  expect(() => kept.save(viewOf('a'))).toThrow(/keeps nothing/)
  expect(names(kept)).toEqual(['a'])
})

test.each(['{', '7', '{"a":1}', '[{"name":1}]'])('what cannot be read is as nothing: %s', (text) => {
  const store = memory()
  store.setItem('pcp-ts.views', text)
  expect(names(new KeptViews(() => store))).toEqual([])
})
