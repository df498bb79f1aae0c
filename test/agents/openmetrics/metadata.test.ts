import { describe, expect, test } from 'vitest'
import type { MetricComments } from '../../../src/agents/openmetrics/exposition.ts'
import { isIncluded, metadataOf } from '../../../src/agents/openmetrics/metadata.ts'
import { NO_CONFIG, parseSourceConfig } from '../../../src/agents/openmetrics/source-config.ts'
import { readValue } from '../../../src/agents/openmetrics/values.ts'
import { unitsStr } from '../../../src/model/units.ts'

describe('what a metric is', () => {
  test.each<[string, MetricComments, string]>([
    ['up', {}, 'up double instant none'],
    ['a_total', {}, 'a_total double counter none'],
    ['a', { type: 'counter' }, 'a double counter none'],
    ['a_seconds', { type: 'gauge' }, 'a_seconds double instant sec'],
    ['a_milliseconds', {}, 'a_milliseconds double instant millisec'],
    ['a_microseconds_total', {}, 'a_microseconds_total double counter microsec'],
    ['a_bytes', {}, 'a_bytes double instant byte'],
    ['a', { unit: 'bytes' }, 'a double instant byte'],
    ['a_seconds_bucket', { type: 'histogram' }, 'a_seconds_bucket double counter count'],
    ['a_seconds_count', { type: 'summary' }, 'a_seconds_count double counter count'],
    ['a_seconds_sum', { type: 'histogram' }, 'a_seconds_sum double counter sec'],
    ['a_bucket', { type: 'gaugehistogram' }, 'a_bucket double instant count'],
    ['a_created', { type: 'counter' }, 'a_created double instant sec'],
    ['job:a_bytes:rate', {}, 'job.a_bytes.rate double instant none'],
    ['x', { pcp: ['PCP', 'p.x', 'counter', 'Kbyte', '/', 'sec'] }, 'p.x double counter Kbyte / sec'],
    ['x', { pcp: ['PCP', 'p.x'] }, 'p.x double instant none'],
    ['x', { pcp: ['PCP5', 'p.x', 'u64', 'PM_INDOM_NULL', 'discrete', 'none'] }, 'p.x u64 discrete none 1'],
  ])('%s %o', (name, block, expected) => {
    const { name: path, type, sem, units, hasOneValue } = metadataOf(name, block, NO_CONFIG)
    const text = `${path} ${type} ${sem} ${unitsStr(units) || 'none'}`
    expect(hasOneValue ? `${text} 1` : text).toBe(expected)
  })

  test('a METADATA line takes precedence over the document', () => {
    const config = parseSourceConfig('file:///x\nMETADATA: up u32 response counter count')
    const block: MetricComments = { pcp: ['PCP', 'p.up', 'instant', 'byte'] }
    expect(metadataOf('up', block, config)).toMatchObject({ name: 'up', type: 'u32', sem: 'counter' })
    expect(metadataOf('down', block, config)).toMatchObject({ name: 'p.up', sem: 'instant' })
  })

  test('unknown words are reported and ignored', () => {
    const block: MetricComments = { pcp: ['PCP5', 'p.x', 'blob', '1.2', 'often', 'furlong'] }
    const { type, sem, units, problems } = metadataOf('x', block, NO_CONFIG)
    expect([type, sem, units, problems.length]).toEqual(['double', 'instant', 0, 3])
  })

  test('filters choose metrics', () => {
    const config = parseSourceConfig('file:///x\nFILTER: INCLUDE METRIC a\nFILTER: EXCLUDE METRIC .*')
    expect([isIncluded('ab', config), isIncluded('b', config)]).toEqual([true, false])
  })
})

test.each([
  ['1', 'double', 1],
  ['-.5e3', 'double', -500],
  ['+Inf', 'double', Infinity],
  ['-infinity', 'double', -Infinity],
  ['NaN', 'double', NaN],
  ['0x1F', 'double', 31],
  ['18446744073709551615', 'u64', 2n ** 64n - 1n],
  ['1e+06', 'u32', 1_000_000n],
  ['3.0', '32', 3n],
  ['anything', 'string', 'anything'],
] as const)('%s as %s', (text, type, value) => {
  expect(readValue(text, type)).toEqual(value)
})

test.each([
  ['', 'double'],
  ['1,5', 'double'],
  ['one', 'double'],
  ['-1', 'u32'],
  ['4294967296', 'u32'],
  ['1.5', '64'],
  ['NaN', '32'],
] as const)('%j is no %s', (text, type) => {
  expect(readValue(text, type)).toMatchObject({ code: 'PM_ERR_CONV' })
})
