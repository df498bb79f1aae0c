import { expect, test } from 'vitest'
import { manPage } from '../../../src/tools/lib/man.ts'
import { STANDARD } from '../../../src/tools/lib/standard.ts'
import type { Tool } from '../../../src/tools/lib/tool.ts'

const tool: Tool = {
  name: 'pmdemo',
  summary: 'Show a thing',
  description: 'First "paragraph".\n\n.dots and \\ stay.\n\n    unfilled\n      deeper',
  options: {
    synopsis: '[options] metricname ...',
    rows: [
      { heading: 'Empty' },
      { heading: 'General options' },
      STANDARD.host,
      STANDARD.debug,
      { short: 'q', help: 'say -nothing-' },
      { long: 'hidden' },
    ],
  },
  examples: [['pmdemo -q x.y', 'Without words:']],
  exitStatus: [[2, 'nothing found']],
  seeAlso: ['pmother', 'pmnosuch'],
  run: async () => 0,
}
const page = manPage(tool, new Set(['pmdemo', 'pmother', 'pmcd', 'pmdbg']))

/** Returns the lines of a section. */
function section(name: string): string[] {
  const [, rest = ''] = page.split(`.SH ${name}\n`)
  return rest
    .split(/^\.SH /m)[0]!
    .trimEnd()
    .split('\n')
}

test('names and summarises the command', () => {
  expect(page).toContain('.TH "PMDEMO" 1')
  expect(section('NAME')).toEqual(['pmdemo \\- show a thing'])
  expect(section('SYNOPSIS')).toEqual(['.B pmdemo', '[options] metricname ...'])
})

test('text is escaped', () => {
  expect(section('DESCRIPTION')).toEqual([
    'First "paragraph".',
    '.PP',
    '\\&.dots and \\e stay.',
    '.PP',
    '.RS 4',
    '.EX',
    'unfilled',
    '  deeper',
    '.EE',
    '.RE',
  ])
})

test('options follow their headings; those without help are private, except -D', () => {
  expect(section('OPTIONS').filter((line) => line.startsWith('.SS'))).toEqual(['.SS "General options"'])
  expect(section('OPTIONS')).toContain('\\fB\\-h\\fR \\fIHOST\\fR, \\fB\\-\\-host\\fR=\\fIHOST\\fR')
  expect(section('OPTIONS')).toContain('\\fB\\-D\\fR \\fINAMES\\fR, \\fB\\-\\-debug\\fR=\\fINAMES\\fR')
  expect(section('OPTIONS')).toContain('say \\-nothing\\-')
  expect(page).not.toContain('hidden')
})

test('documents exit statuses, environment and related pages', () => {
  expect(section('EXIT STATUS').filter((line) => line.startsWith('.B'))).toEqual(['.B 0', '.B 1', '.B 2'])
  expect(section('ENVIRONMENT').join('\n')).toMatch(
    /\.B PCP_HOST\n.*\n\.TP\n\.B PCP_DEBUG[\s\S]*\.B PMCD_PORT\n[\s\S]*\.B PMCD_SOCKET\n/,
  )
  expect(section('SEE ALSO')).toEqual(['.BR pmcd (1),', '.BR pmdbg (1),', '.BR pmother (1)'])
})
