import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ExpositionReader, parseSample } from '../../../src/agents/openmetrics/exposition.ts'

function read(text: string, maxSamples = 1000): ExpositionReader {
  const reader = new ExpositionReader(maxSamples)
  reader.read(text)
  return reader
}

describe('a line', () => {
  test.each([
    ['up 1', 'up', undefined, '1', undefined],
    ['up{} 1', 'up', {}, '1', undefined],
    ['up {a="b"}\t+Inf', 'up', { a: 'b' }, '+Inf', undefined],
    ['up { a = "b" , c = "d" , } 1 1395066363000', 'up', { a: 'b', c: 'd' }, '1', '1395066363000'],
    ['up{a="x\\"y\\\\z\\nw\\q"} 1', 'up', { a: 'x"y\\z\nw\\q' }, '1', undefined],
    ['up{a="}{,="} 2 -3.5', 'up', { a: '}{,=' }, '2', '-3.5'],
    ['n_bucket{le="1"} 8 # {trace_id="K"} 0.6 1.5', 'n_bucket', { le: '1' }, '8', undefined],
    ['n_bucket{le="1"} 8 123.4 # {trace_id="K"} 0.6', 'n_bucket', { le: '1' }, '8', '123.4'],
    ['{"my.metric",a="b"} 1', 'my.metric', { a: 'b' }, '1', undefined],
    ['{"my.metric","odd label"="b"} 1', 'my.metric', { 'odd label': 'b' }, '1', undefined],
    ['up{__proto__="x"} 1', 'up', { ['__proto__']: 'x' }, '1', undefined],
  ])('%s', (line, name, labels, value, timestamp) => {
    const parsed = parseSample(line)
    if (typeof parsed === 'string') throw new Error(parsed)
    expect(parsed.name).toBe(name)
    expect(parsed.labels && [...parsed.labels]).toEqual(labels && Object.entries(labels))
    expect([parsed.value, parsed.timestamp]).toEqual([value, timestamp])
  })

  test.each([
    ['up', 'up has no value'],
    ['{a="b"} 1', 'there is no name of a metric'],
    ['up{a="b" 1', 'the labels do not end with "}"'],
    ['up{a="b} 1', 'the value of label a is not in quotes'],
    ['up{a=b} 1', 'the value of label a is not in quotes'],
    ['up{a} 1', 'label "a" has no value'],
    ['up{="b"} 1', 'a label has no name'],
    ['up{"a} 1', 'a text in quotes does not end'],
    ['up{"a"} 1', 'the metric has two names, up and "a"'],
    ['up 1 yesterday', 'the time "yesterday" is not a number'],
    ['up 1 2 3', '"3" follows the value'],
  ])('%s: refused', (line, why) => {
    expect(parseSample(line)).toBe(why)
  })
})

describe('a document', () => {
  test('a wrong line is reported with its number; other lines are kept', () => {
    const { samples, problems, problemCount } = read('a 1\nb{ 2\n\nc 3\n')
    expect(samples.map(({ name, line }) => [name, line])).toEqual([
      ['a', 1],
      ['c', 4],
    ])
    expect(problems).toEqual([{ line: 2, why: 'label "2" has no value' }])
    expect(problemCount).toBe(1)
  })

  test('comments describe the lines up to the next comment', () => {
    const { samples } = read(
      [
        '# HELP a what it is',
        '# TYPE a counter',
        '# UNIT a seconds',
        'a_total 1',
        '',
        'b 2',
        '# anything',
        'c 3',
        '# PCP5 x.y 1.2.3 u32 1.2 instant Kbyte / sec',
        'x_y 4',
        '# PCP x.z counter count',
        'x_z 5',
        '# EOF',
      ].join('\n'),
    )
    const said = { help: 'what it is', type: 'counter', unit: 'seconds' }
    expect(samples.map(({ block }) => block)).toEqual([
      said,
      said,
      {},
      { pcp: ['PCP5', 'x.y', 'u32', '1.2', 'instant', 'Kbyte', '/', 'sec'] },
      { pcp: ['PCP', 'x.z', 'counter', 'count'] },
    ])
  })

  test('a comment of PCP that is cut short is a problem of its line', () => {
    expect(read('# PCP5 a 1.2.3\na 1\n').problems).toMatchObject([{ line: 1 }])
  })

  test('has no more values than allowed, and no endless lines', () => {
    const { samples, problemCount } = read('a 1\nb 2\nc 3\nd 4\n', 2)
    expect([samples.length, problemCount]).toEqual([2, 2])
    expect(read(`a{b="${'x'.repeat(70_000)}"} 1\nc 2\n`)).toMatchObject({
      samples: [{ name: 'c' }],
      problems: [{ line: 1 }],
    })
  })

  test('keeps a hundred problems and counts them all', () => {
    const { problems, problemCount } = read('a\n'.repeat(1000))
    expect([problems.length, problemCount]).toEqual([100, 1000])
  })

  test('pieces of whole lines give the same as the whole', () => {
    const lines = ['# HELP a b\n', 'a 1\n', 'b{c="d"} 2\n', 'wrong\n', '# TYPE x gauge\n', 'x 3\n']
    const pieces = new ExpositionReader(100)
    for (const line of lines) pieces.read(line)
    const whole = read(lines.join(''))
    expect([pieces.samples, pieces.problems]).toEqual([whole.samples, whole.problems])
  })

  test('any text is read without an exception', () => {
    const word = fc.constantFrom(
      'a',
      '{',
      '}',
      '"',
      '=',
      ',',
      '\\',
      ' ',
      '\n',
      '#',
      '1',
      'le',
      'NaN',
      ' # ',
      'PCP5',
      'TYPE',
      '\u2028',
    )
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(word).map((words) => words.join('')),
    )
    fc.assert(
      fc.property(text, (document) => {
        const { samples, problemCount } = read(document)
        const lines = document.split('\n').length
        expect(samples.length + problemCount).toBeLessThanOrEqual(lines)
      }),
      { numRuns: 500 },
    )
  })

  test('names, labels and values come back from any text that is written by the rules', () => {
    const label = fc.tuple(fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/), fc.string())
    const labels = fc.uniqueArray(label, { selector: ([name]) => name, maxLength: 5 })
    const escaped = (text: string): string => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9_:]{0,8}$/), labels, fc.double(), (name, pairs, value) => {
        const text = pairs.map(([key, of]) => `${key}="${escaped(of)}"`).join(',')
        const parsed = parseSample(`${name}{${text}} ${value}`)
        expect(parsed).toMatchObject({ name, value: String(value) })
        if (typeof parsed !== 'string') expect([...(parsed.labels ?? [])]).toEqual(pairs)
      }),
    )
  })
})
