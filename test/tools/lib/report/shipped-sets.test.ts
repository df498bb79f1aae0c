/** The metric sets of this package: share/pmrep. */
import { expect, test } from 'vitest'
import { isFault, parseExpr } from '../../../../src/derive/parse.ts'
import { sectionMetrics, shippedSets, withShippedSets } from '../../../../src/tools/lib/report/config.ts'
import { parseIni } from '../../../../src/tools/lib/report/ini.ts'
import { applySetting, defaultSettings, isSetting } from '../../../../src/tools/lib/report/settings.ts'

const sets = shippedSets()

test('all sets exist, each once', () => {
  expect(sets.sections.size).toBe(80)
  for (const name of [
    'vmstat',
    'sar',
    'sar-d-dev',
    'iostat-dktx',
    'mpstat-P-ALL',
    'pidstat',
    'proc-info',
    'pmstat-x',
  ])
    expect(sets.sections.has(name), name).toBe(true)
})

test('every set has metrics, known settings and valid formulas', () => {
  for (const [name, keys] of sets.sections) {
    const settings = defaultSettings()
    for (const [key, value] of keys) if (isSetting(key)) applySetting(settings, key, value)
    const { specs, formulas } = sectionMetrics(sets, name)
    expect(specs.length, name).toBeGreaterThan(0)
    for (const [metric, formula] of formulas)
      expect(isFault(parseExpr(formula)), `${name} ${metric}`).toBe(false)
  }
})

test('a configuration keeps its sets, and gets the missing ones', () => {
  const own = { file: 'own', sections: parseIni('[vmstat]\nmem.util.free = free\n', 'own') }
  const both = withShippedSets(own, [':vmstat', ':sar', ':nosuchset', 'mem'])
  expect([...both.sections.get('vmstat')!.keys()]).toEqual(['mem.util.free'])
  expect(both.sections.has('sar')).toBe(true)
  expect(both.sections.has('nosuchset')).toBe(false)
  expect(withShippedSets(own, [':vmstat'])).toBe(own)
})

test('percent signs may be doubled', () => {
  const sections = parseIni('[a]\nx.y = %%usr,,,,5\nz = mem.util.free\nz.label = 5%\n', 'file')
  expect(sections.get('a')!.get('x.y')).toBe('%usr,,,,5')
  expect(sections.get('a')!.get('z.label')).toBe('5%')
})

test('a metric defined in a section can have its formula after other attributes', () => {
  const sections = parseIni('[a]\nusr = %%usr,,s,,7\nusr.formula = 100 * x.y\nusr.precision = 1\n', 'file')
  const { specs, formulas } = sectionMetrics({ file: 'file', sections }, 'a')
  expect(specs).toMatchObject([{ name: 'usr', label: '%usr', unit: 's', width: '7', precision: '1' }])
  expect([...formulas]).toEqual([['usr', '100 * x.y']])
})
