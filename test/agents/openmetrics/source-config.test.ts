import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSourceConfig, verdictOn } from '../../../src/agents/openmetrics/source-config.ts'

test('a file has a URL, headers, filters and metadata', () => {
  const config = parseSourceConfig(
    [
      'http://host:9090/metrics?x=1',
      '# a comment',
      '',
      'HEADER: Accept: text/html',
      'HEADER: Some: has:  colons: in it ',
      'FILTER: INCLUDE METRIC up.*',
      'FILTER: EXCLUDE METRIC .*',
      'FILTER: OPTIONAL LABEL ^a:b c$',
      'METADATA: ^up_ u32 some_indom counter Kbyte / sec',
    ].join('\n'),
  )
  expect(config.problems).toEqual([])
  expect(config.url).toBe('http://host:9090/metrics?x=1')
  expect(config.headers).toEqual({ Accept: 'text/html', Some: 'has: colons: in it' })
  expect(config.metadata).toMatchObject([
    { type: 'u32', indom: 'some_indom', semantics: 'counter', units: 'Kbyte / sec' },
  ])
  expect(verdictOn(config, 'LABEL', 'a:b c')).toBe('OPTIONAL')
})

test('the first filter that matches from the start of the name decides', () => {
  const config = parseSourceConfig(
    'file:///x\nFILTER: INCLUDE METRIC ab\nFILTER: EXCLUDE METRIC a|z\nFILTER: EXCLUDE LABEL (?i)secret',
  )
  const verdicts = ['abc', 'ax', 'xab', 'z1', 'b'].map((name) => verdictOn(config, 'METRIC', name))
  expect(verdicts).toEqual(['INCLUDE', 'EXCLUDE', 'INCLUDE', 'EXCLUDE', 'INCLUDE'])
  expect(verdictOn(config, 'LABEL', 'SECRET')).toBe('EXCLUDE')
})

test.each([
  ['', 1, 'the URL is missing'],
  ['host:9090', 1, '"host:" is not one of http:, https:, file:'],
  ['no url', 1, '"no url" is not a URL'],
  ['file://host/x', 1, '"file://host/x" names a host: write file:///path, with three slashes'],
  ['http://h\nHEADER: x', 2, 'HEADER: must be followed by NAME: VALUE'],
  ['http://h\n\nHEADER: x: \u2028y\u0000z', 3, 'header x has invalid characters'],
  ['http://h\nFILTER: INCLUDE .*', 2, '".*" is neither METRIC nor LABEL'],
  ['http://h\nFILTER: DROP METRIC x', 2, '"DROP" is not one of INCLUDE, EXCLUDE, OPTIONAL'],
  ['http://h\nFILTER: OPTIONAL METRIC x', 2, 'only labels can be OPTIONAL'],
  ['http://h\nFILTER: INCLUDE METRIC', 2, 'the pattern is missing'],
  [
    'http://h\nMETADATA: x u32',
    2,
    'METADATA: must be followed by a pattern, type, instance domain, semantics and units',
  ],
  ['http://h\nSOME: thing', 2, '"SOME: thing" starts with none of HEADER:, FILTER: and METADATA:'],
])('%j has a problem', (text, line, why) => {
  expect(parseSourceConfig(text).problems).toEqual([{ line, why }])
})

test('an invalid pattern is a problem of its line', () => {
  const { problems, filters } = parseSourceConfig(
    'http://h\nFILTER: INCLUDE METRIC (\nFILTER: INCLUDE METRIC x',
  )
  expect(problems).toMatchObject([{ line: 2 }])
  expect(filters.length).toBe(1)
})

test('any text is read without an exception', () => {
  const line = fc.tuple(
    fc.constantFrom('HEADER:', 'FILTER: INCLUDE METRIC ', 'METADATA: ', 'http://', ''),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const config = parseSourceConfig(lines.map((words) => words.join('')).join('\n'))
      verdictOn(config, 'METRIC', 'name')
    }),
  )
})
