import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { editLocalAgents, type LocalAgentRow, parseLocalSpec } from '../../src/routing/local-spec.ts'

test.each([
  [
    'add,29,sample/pmda_sample.so,sample_init',
    { op: 'add', domain: 29, path: 'sample/pmda_sample.so', entry: 'sample_init' },
  ],
  ['add, 60,a,b,c', { op: 'add', domain: 60, path: 'a', entry: 'b,c' }],
  ['del,060', { op: 'del', domain: 60 }],
  ['del,60,', { op: 'del', domain: 60 }],
  ['del,,a/b.so', { op: 'del', path: 'a/b.so' }],
  ['del,60,a,rest', { op: 'del', domain: 60, path: 'a' }],
  ['clear', { op: 'clear' }],
] as const)('%s is one edit', (text, edit) => {
  expect(parseLocalSpec(text)).toEqual([edit])
})

test('entries are separated by bars', () => {
  expect(parseLocalSpec('clear|add,1,a,b|del,1').map(({ op }) => op)).toEqual(['clear', 'add', 'del'])
})

// Errors of pminfo 6.0.3 -L -K.
test.each([
  ['', 'bad op in spec'],
  ['foo', 'bad op in spec'],
  ['Add,1,a,b', 'bad op in spec'],
  [' clear', 'bad op in spec'],
  ['add', 'expected , after op in spec'],
  ['add29', 'expected , after op in spec'],
  ['addx,29', 'expected , after op in spec'],
  ['del', 'expected , after op in spec'],
  ['delx,1', 'expected , after op in spec'],
  ['add,', 'missing domain in spec'],
  ['add,,a,b', 'missing domain in spec'],
  ['del,', 'missing domain in spec'],
  ['add,x', 'bad domain in spec'],
  ['add,29x,a,b', 'bad domain in spec'],
  ['add,0x3c,a,b', 'bad domain in spec'],
  ['add,-1,a,b', 'bad domain in spec'],
  ['add, 29 ,a,b', 'bad domain in spec'],
  ['add,511,a,b', 'bad domain in spec'],
  ['del,511', 'bad domain in spec'],
  ['del,x', 'bad domain in spec'],
  ['add,29', 'missing dso-path in spec'],
  ['add,29,', 'missing dso-path in spec'],
  ['add,29,x', 'missing init-routine in spec'],
  ['add,29,x,', 'missing init-routine in spec'],
  ['del,,', 'missing domain and dso-path in spec'],
  ['clearx', 'unexpected text after clear op in spec'],
  ['clear ', 'unexpected text after clear op in spec'],
  ['clear,1', 'unexpected text after clear op in spec'],
  ['del,60|bad', 'bad op in spec'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseLocalSpec(text)).toThrow(new PcpError('PM_ERR_CONV', message))
})

const LINUX: LocalAgentRow = { domain: 60, path: '/pmdas/linux/pmda_linux.so', entry: 'linux_init' }
const JBD2: LocalAgentRow = { domain: 122, path: '/pmdas/jbd2/pmda_jbd2.so', entry: 'jbd2_init' }

function edited(spec: string): readonly LocalAgentRow[] {
  return parseLocalSpec(spec).reduce(editLocalAgents, [LINUX, JBD2])
}

test('rows are appended, removed by domain or path, cleared', () => {
  expect(edited('add,60,x,y')).toEqual([LINUX, JBD2, { domain: 60, path: 'x', entry: 'y' }])
  expect(edited('del,60')).toEqual([JBD2])
  expect(edited('del,60,nosuch')).toEqual([JBD2])
  expect(edited('del,200,/pmdas/linux/pmda_linux.so')).toEqual([JBD2])
  expect(edited('del,,/pmdas/jbd2/pmda_jbd2.so')).toEqual([LINUX])
  expect(edited('clear')).toEqual([])
})

test.each(['del,29', 'del,,nosuch', 'clear|del,60'])('%s has nothing to remove', (spec) => {
  expect(() => edited(spec)).toThrow(
    new PcpError('PM_ERR_INDOM', '__pmLocalPMDA: Unknown or illegal instance domain identifier'),
  )
})
