/** Sources of help texts. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { type HelpProblem, parseHelpSource } from '../../src/pmda/help-source.ts'

const NAMES = new Map([
  ['a.one', pmid(29, 0, 1)],
  ['a.two', pmid(29, 0, 2)],
])

function parse(text: string, warnsOfNull = false) {
  const problems: HelpProblem[] = []
  const taken: string[] = []
  const entries = parseHelpSource(text, {
    pmidOf: (name) => NAMES.get(name) ?? new PcpError('PM_ERR_NAME'),
    report: (problem) => problems.push(problem),
    onEntry: (name) => taken.push(name),
    warnsOfNull,
  })
  return { entries, problems, taken }
}

test('parses metrics by name and number and instance domains, ignoring comments and text before the entries', () => {
  const { entries, problems, taken } = parse(
    '# c\nlost\n@ a.one First one\nline 1\n# c\n\nline 2\n\n\n@29.1.3 by number\n@ 29.2 indom\n\nlong\n',
  )
  expect(problems).toEqual([])
  expect(entries).toEqual([
    {
      kind: 'metric',
      id: pmid(29, 0, 1),
      name: 'a.one',
      oneline: 'First one',
      help: 'line 1\n\nline 2',
    },
    { kind: 'metric', id: pmid(29, 1, 3), name: '29.1.3', oneline: 'by number', help: '' },
    { kind: 'indom', id: indom(29, 2), name: '29.2', oneline: 'indom', help: '\nlong' },
  ])
  expect(taken).toEqual(['a.one', '29.2'])
})

test('leaves out entries with an unknown metric, an invalid number or a duplicate key, and reports the line', () => {
  const { entries, problems } = parse('@ a.one x\n@ b y\n@ 511.0.0 z\n@ 29.0.1 again\n@\ntext\n')
  expect(entries.map(({ name }) => name)).toEqual(['a.one'])
  expect(problems).toEqual([
    { line: 3, text: 'b: Unknown metric name, entry abandoned', severity: 'error' },
    { line: 4, text: '511.0.0: Unknown or illegal metric identifier, entry abandoned', severity: 'error' },
    { line: 5, text: '29.0.1: duplicate key, entry abandoned', severity: 'error' },
    { line: 5, text: 'null entry?', severity: 'error' },
  ])
})

test('divides long lines and cuts long entries', () => {
  const { entries, problems } = parse(`@ a.one x\n${'y'.repeat(200)}\n${`${'z'.repeat(100)}\n`.repeat(10)}`)
  expect(entries[0]!.help.split('\n').slice(0, 3)).toEqual(['y'.repeat(127), 'y'.repeat(73), 'z'.repeat(100)])
  expect(entries[0]!.help.length + 'x'.length).toBe(1023)
  expect(problems.map(({ line, text, severity }) => ({ line, text, severity }))).toEqual([
    { line: 2, text: 'long line split after ...', severity: 'warning' },
    { line: 13, text: 'a.one: entry truncated after ...', severity: 'warning' },
  ])
})

test('warns of empty texts if enabled', () => {
  const { problems, taken } = parse('@ a.one\n@ a.two x', true)
  expect(problems.map(({ text }) => text)).toEqual([
    'a.one: warning, null oneline',
    'a.one: warning, null help',
    'a.two: warning, null help',
  ])
  expect(taken).toEqual([])
})
