import { expect, test } from 'vitest'
import {
  argumentKind,
  bashCompletion,
  operandKind,
  zshCompletion,
} from '../../../src/tools/lib/completion.ts'
import { STANDARD } from '../../../src/tools/lib/standard.ts'
import type { Tool } from '../../../src/tools/lib/tool.ts'

const tool: Tool = {
  name: 'pmdemo',
  summary: 'Show a thing',
  options: {
    synopsis: '[options] metricname ...',
    rows: [
      STANDARD.host,
      STANDARD.archive,
      STANDARD.debug,
      STANDARD.help,
      { short: 'q', long: 'quiet', help: "don't [say]: anything" },
      { long: 'private', arg: 'N' },
    ],
  },
  run: async () => 0,
}

test('the kind of an argument follows from its name, unless the option sets it', () => {
  expect(argumentKind({ arg: 'FILE' })).toBe('file')
  expect(argumentKind({ arg: 'FILE', kind: 'none' })).toBe('none')
  expect(argumentKind(STANDARD.archive)).toBe('archive')
  expect(argumentKind(STANDARD.debug)).toBe('debug')
  expect(argumentKind({ arg: 'N' })).toBe('none')
  expect(argumentKind({ short: 'q' })).toBeUndefined()
})

test('the kind of operands follows from the first word of the synopsis', () => {
  expect(operandKind({ synopsis: '[options] [metricname | pmid | indom]...', rows: [] })).toBe('metric')
  expect(operandKind({ synopsis: '[options] input-archive output', rows: [] })).toBe('archive')
  expect(operandKind({ synopsis: '[options] file', operands: 'none', rows: [] })).toBe('none')
  expect(operandKind(undefined)).toBe('none')
})

test('bash gets a table of options', () => {
  expect(bashCompletion([tool])).toContain(
    "pmdemo) _pcp_operands=metric _pcp_options=('h:host:host' 'a:archive:archive' 'D:debug:debug' ':help:' 'q:quiet:') ;;",
  )
})

test('zsh also gets the help texts', () => {
  const text = zshCompletion([tool])
  expect(text).toContain('#compdef pcp-ts pmdemo')
  expect(text).toContain("'*--quiet[don'\\''t \\[say\\]\\: anything]'")
  expect(text).toContain("'*-h+[read values from the collector on HOST]:HOST:_hosts'")
  expect(text).not.toContain('private')
})
