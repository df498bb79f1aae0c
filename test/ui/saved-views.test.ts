/** Views saved in the browser. */
import { expect, test } from 'vitest'
import { SavedViews, type Store } from '../../src/ui/view/saved-views.ts'
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

const names = ({ views }: SavedViews): string[] => views.value.map(({ name }) => name)

test('saves, replaces in place, renames and deletes', () => {
  const store = memory()
  const kept = new SavedViews(() => store)
  for (const name of ['a', 'b', 'c']) kept.save(viewOf(name))
  kept.save(viewOf('b', 'new'))
  kept.rename('a', 'z')
  kept.delete('c')
  kept.delete('c')
  expect(() => kept.rename('z', 'b')).toThrow('A view named b already exists')
  const again = new SavedViews(() => store)
  expect(names(again)).toEqual(['z', 'b'])
  expect(again.views.value[1]!.charts[0]!.title).toBe('new')
})

test('the start view stays the same when it is renamed', () => {
  const store = memory()
  const kept = new SavedViews(() => store)
  kept.save(viewOf('a'))
  kept.setStartView('a')
  kept.rename('a', 'b')
  expect(new SavedViews(() => store).startView.value).toBe('b')
  kept.delete('b')
  expect(new SavedViews(() => store).startView.value).toBeUndefined()
})

test("two tabs do not undo each other's changes", () => {
  const store = memory()
  const one = new SavedViews(() => store)
  const two = new SavedViews(() => store)
  one.save(viewOf('a'))
  two.save(viewOf('b'))
  expect(names(two)).toEqual(['a', 'b'])
  one.refresh()
  expect(names(one)).toEqual(['a', 'b'])
})

test('full storage keeps the saved views and reports an error until there is room', () => {
  const store = memory()
  let isFull = false
  const kept = new SavedViews(() => ({
    ...store,
    setItem(key, value) {
      if (isFull) throw new DOMException('full', 'QuotaExceededError')
      store.setItem(key, value)
    },
  }))
  kept.save(viewOf('a'))
  isFull = true
  expect(() => kept.save(viewOf('b'))).toThrow(/storage is full/)
  kept.refresh()
  expect(names(kept)).toEqual(['a', 'b'])
  expect(names(new SavedViews(() => store))).toEqual(['a'])
  isFull = false
  kept.save(viewOf('c'))
  expect(names(new SavedViews(() => store))).toEqual(['a', 'b', 'c'])
})

test('without storage, views last until the page is closed', () => {
  const kept = new SavedViews(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  expect(() => kept.save(viewOf('a'))).toThrow(/blocks storage/)
  expect(names(kept)).toEqual(['a'])
})

test.each(['{', '7', '{"a":1}', '[{"name":1}]'])('unreadable storage counts as empty: %s', (text) => {
  const store = memory()
  store.setItem('pcp-ts.views', text)
  expect(names(new SavedViews(() => store))).toEqual([])
})

test('no view gets the name of a page; an earlier view with such a name is renamed', () => {
  const store = memory()
  const kept = new SavedViews(() => store)
  kept.save(viewOf('mine'))
  expect(() => kept.save(viewOf('Disks'))).toThrow(/name of a page/)
  expect(() => kept.rename('mine', 'Overview')).toThrow(/name of a page/)
  expect(names(kept)).toEqual(['mine'])
  store.setItem('pcp-ts.views', JSON.stringify([viewOf('Disks')]))
  kept.refresh()
  expect(names(kept)).toEqual(['Disks (saved)'])
})
