import { expect, test } from 'vitest'
import { isChartKind } from '../../src/ui/chart/kinds/registry.ts'
import {
  BUILT_IN_VIEWS,
  fromPageFragment,
  PAGES,
  pageOf,
  toPageFragment,
} from '../../src/ui/view/built-in.ts'

test('a page is found by its address, among other parameters', () => {
  for (const { page, view } of PAGES) {
    expect(fromPageFragment(toPageFragment(page))?.view).toBe(view)
    expect(fromPageFragment(`#from=-10min&page=${page}`)?.view).toBe(view)
    expect(pageOf({ name: view.name, charts: [] })?.page).toBe(page)
  }
  for (const other of ['', '#', '#page=', '#page=nothing', '#v=abc', '#fleet'])
    expect(fromPageFragment(other), other).toBeUndefined()
})

test('keys, names and ids of charts are unique', () => {
  const pages = PAGES.map(({ page }) => page)
  expect(new Set(pages).size).toBe(pages.length)
  const names = BUILT_IN_VIEWS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, charts } of BUILT_IN_VIEWS) {
    const ids = charts.map(({ id }) => id)
    expect(new Set(ids).size, name).toBe(ids.length)
    for (const { style } of charts) expect(isChartKind(style), style).toBe(true)
  }
})
