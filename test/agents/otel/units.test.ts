import { expect, test } from 'vitest'
import { metricPath } from '../../../src/agents/otel/labels.ts'
import { unitsOf } from '../../../src/agents/otel/units.ts'
import { unitsStr } from '../../../src/model/units.ts'

test.each([
  ['s', 'sec'],
  ['ms', 'millisec'],
  ['By', 'byte'],
  ['KiBy', 'Kbyte'],
  ['{request}', 'count'],
  ['By/s', 'byte / sec'],
  ['{packet}/s', 'count / sec'],
  ['1', ''],
  ['%', ''],
  ['kBy', ''],
  ['s/ms', ''],
  ['a/b/c', ''],
  ['', ''],
])('unit %j is %j', (text, units) => {
  expect(unitsStr(unitsOf(text))).toBe(units)
})

test.each([
  ['http.server.request.duration', 'http.server.request.duration'],
  ['jvm-memory/used', 'jvm_memory_used'],
  ['9p.io', 'x9p.io'],
  ['..a..b.', 'a.b'],
  ['größe', 'gr__e'],
  ['', ''],
])('metric %j is %j', (name, path) => {
  expect(metricPath(name)).toBe(path)
})
