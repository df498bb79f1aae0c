import { expect, test } from 'vitest'
import { isChartKind } from '../../src/ui/chart/kinds/registry.ts'
import { RESOURCES } from '../../src/ui/health/resources.ts'
import {
  BUILT_IN_VIEWS,
  isBuiltInName,
  PAGES,
  pageKeyOf,
  pageOf,
  setPmchartViews,
  toPageFragment,
  viewOfPage,
} from '../../src/ui/view/built-in.ts'
import { PMCHART_VIEWS } from '../../src/ui/view/pmchart-views.ts'

test('a page is found by its key, also after it was changed', () => {
  for (const { page, view } of PAGES) {
    expect(viewOfPage(page)).toBe(view)
    expect(pageKeyOf(view)).toBe(page)
    expect(toPageFragment(page)).toBe(`#page=${page}`)
    expect(pageOf({ name: view.name, charts: [] })?.page).toBe(page)
    expect(pageKeyOf({ ...view })).toBeUndefined()
  }
  for (const other of ['', 'nothing', 'constructor']) expect(viewOfPage(other), other).toBeUndefined()
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

test('views of pmchart are known by key and name once they are loaded', () => {
  setPmchartViews([])
  expect(viewOfPage('pmchart-cpu')).toBeUndefined()
  expect(isBuiltInName('CPU (pmchart)')).toBe(false)
  const found = PMCHART_VIEWS
  setPmchartViews(found)
  expect(
    found
      .map(({ page }) => page)
      .sort()
      .join(' '),
  ).toBe(
    'pmchart-cpu pmchart-disk pmchart-diskbytes pmchart-filesystem pmchart-loadavg pmchart-memavailable pmchart-memory ' +
      'pmchart-netbytes pmchart-netpackets pmchart-nfs2 pmchart-nfs3 pmchart-overview pmchart-paging pmchart-pmcd ' +
      'pmchart-sockets pmchart-swap pmchart-syscalls pmchart-vcpu',
  )
  const names = [...BUILT_IN_VIEWS, ...found.map(({ view }) => view)].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { page, view } of found) {
    expect(viewOfPage(page)).toBe(view)
    expect(pageKeyOf(view)).toBe(page)
    expect(pageOf(view), 'is no tab').toBeUndefined()
    expect(isBuiltInName(view.name)).toBe(true)
    const ids = view.charts.map(({ id }) => id)
    expect(new Set(ids).size, page).toBe(ids.length)
    for (const { style, plots } of view.charts) {
      expect(isChartKind(style), style).toBe(true)
      expect(plots.length, page).toBeGreaterThan(0)
    }
  }
})

test('no expression needs a metric that is recorded once, for which an archive on a web server is read whole', () => {
  const charts = BUILT_IN_VIEWS.flatMap((view) => view.charts).flatMap(({ plots }) => plots)
  const figures = RESOURCES.flatMap((resource) => resource.figures).flatMap(({ needs }) => needs)
  const exprs = [...charts, ...figures].flatMap((each) => each.expr ?? [])
  expect(exprs.length).toBeGreaterThan(10)
  expect(exprs.filter((expr) => /\bhinv\./.test(expr))).toEqual([])
})
