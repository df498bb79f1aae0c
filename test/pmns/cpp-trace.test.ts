import { expect, test } from 'vitest'
import { Preprocessor } from '../../src/pmns/cpp.ts'
import { CppTrace } from '../../src/pmns/cpp-trace.ts'

function traced(text: string, options: { isRestricted?: boolean; isPercent?: boolean } = {}): string[] {
  let told = ''
  const trace = new CppTrace((line) => {
    told += line
  })
  const preprocessor = new Preprocessor({ file: 'in', trace, ...options }, () => {})
  preprocessor.write(text)
  preprocessor.end()
  trace.end()
  return told.trimEnd().split('\n')
}

test('reports macros, every word looked up, its value, and the number of lines', () => {
  expect(traced('#define site north\nthe site is here\nno more\n')).toEqual([
    '<<macro site="north"',
    ...['<<name="the"', '<<name="site"', '<<value="north"', '<<increased obuf[] to 256 chars'],
    ...['<<name="is"', '<<name="here"', '<<name="no"', '<<name="more"'],
    '<<lines: in 3 out 4 (modified 1) substitutions: 1',
  ])
})

test('looks up only marked names if only those are expanded', () => {
  const told = traced('%define a b\na %a %{a} 100% %{c}\n', { isRestricted: true, isPercent: true })
  expect(told.filter((line) => line.startsWith('<<name'))).toEqual([
    '<<name="%a"',
    '<<name="%{a}"',
    '<<name="%"',
    '<<name="%{c}"',
  ])
})

test('looks up nothing without macros, and reports long lines', () => {
  expect(traced(`${'x'.repeat(600)}\n`)).toEqual([
    '<<doubled ibuf[] to 512 chars',
    '<<doubled ibuf[] to 1024 chars',
    '<<lines: in 1 out 2 (modified 0) substitutions: 0',
  ])
})
