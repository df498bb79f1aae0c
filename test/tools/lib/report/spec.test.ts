import { expect, test } from 'vitest'
import { sectionMetrics } from '../../../../src/tools/lib/report/config.ts'
import { parseIni } from '../../../../src/tools/lib/report/ini.ts'
import { InstanceFilter } from '../../../../src/tools/lib/report/instances.ts'
import { numbersOf, parseSpec } from '../../../../src/tools/lib/report/spec.ts'

test('fields of a specification are positional, with defaults for empty ones', () => {
  expect(parseSpec('mem.util.used,used,,MB,,15,2')).toMatchObject({
    name: 'mem.util.used',
    label: 'used',
    instances: [],
    unit: 'MB',
    type: undefined,
    width: '15',
    precision: '2',
    limit: undefined,
  })
})

test('instances are one item, or several in quotes', () => {
  expect(parseSpec('kernel.all.load,,1 minute').instances).toEqual(['1 minute'])
  expect(parseSpec(`disk.dev.read,,"'sda','sdb'",,,16`)).toMatchObject({
    instances: ['sda', 'sdb'],
    width: '16',
  })
  expect(parseSpec("disk.dev.read,,'sda,sdb'").instances).toEqual(['sda', 'sdb'])
})

test('an invalid width is reported with its metric', () => {
  expect(() => numbersOf(parseSpec('kernel.all,,,,,x'), 'kernel.all.load')).toThrow(
    'Non-negative integer expected: kernel.all.load',
  )
  expect(() => numbersOf(parseSpec('kernel.all,,,,,,,x'), 'kernel.all.load')).toThrow(
    'Integer expected: kernel.all.load',
  )
  expect(numbersOf(parseSpec('kernel.all,,,,,15,2,-3'), 'kernel.all.load')).toEqual({
    width: 15,
    precision: 2,
    limit: -3,
  })
})

test('sections define metrics in short form and by handle, in order', () => {
  const sections = parseIni(
    '[set]\nwidth = 9\nmem.util.free = free,,MB\nup = kernel.all.uptime\nup.label = uptime\n',
    'f',
  )
  const { specs } = sectionMetrics({ file: 'f', sections }, 'set')
  expect(specs.map(({ name, label }) => [name, label])).toEqual([
    ['mem.util.free', 'free'],
    ['kernel.all.uptime', 'uptime'],
  ])
})

test('an attribute before its handle is refused', () => {
  const sections = parseIni('[set]\nup.label = uptime\n', 'f')
  expect(() => sectionMetrics({ file: 'f', sections }, 'set')).toThrow('Undeclared metric key up.')
})

test('a line that is neither a section nor a key is reported with its position', () => {
  expect(() => parseIni('[set]\nerror\n', '/f')).toThrow("Failed to read configuration file '/f', line 2")
})

test('instances are selected by number, by command, by pattern', () => {
  const names = ['000001 /sbin/init', '000570 (kworker)', 'sda', 'sdb']
  expect(new InstanceFilter(['1']).choose(names)).toEqual([0])
  expect(new InstanceFilter(['kworker']).choose(names)).toEqual([1])
  expect(new InstanceFilter(['sd.*', '1']).choose(names)).toEqual([2, 3, 0])
  expect(() => new InstanceFilter(['('])).toThrow("Invalid regex '(':")
  expect(() => new InstanceFilter(['.[]*'])).toThrow("Invalid regex '.[]*':")
})
