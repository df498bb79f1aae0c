/** The preprocessor as a library; test/tools/pmcpp.test.ts compares it with the recorded runs of pmcpp. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { Preprocessor, preprocess } from '../../src/pmns/cpp.ts'

function failure(ask: () => unknown): PcpError {
  try {
    ask()
  } catch (error) {
    if (error instanceof PcpError) return error
    throw error
  }
  throw new Error('no error')
}

/** Output of an input cut into chunks at the given places. */
function inChunks(text: string, cuts: readonly number[]): string {
  let output = ''
  const cpp = new Preprocessor({ file: 'in' }, (block) => {
    output += block
  })
  const places = [0, ...[...cuts].sort((a, b) => a - b), text.length]
  for (let i = 1; i < places.length; i++) cpp.write(text.slice(places[i - 1], places[i]))
  cpp.end()
  return output
}

test('rejects commands without a callback', () => {
  const error = failure(() => preprocess("#shell 'rm -rf /'\n", { file: 'in' }))
  expect(error.code).toBe('PM_ERR_PMNS')
  expect(error.message).toContain('pmcpp: Error: Running commands with #shell is not allowed here')
})

test('runs commands through the callback, also for the last line without newline', () => {
  const commands: string[] = []
  const runShell = (command: string): string => {
    commands.push(command)
    return 'a\nb'
  }
  expect(preprocess("#shell 'x y'", { file: 'in', runShell, hasMarkers: false })).toBe('a\nb\n')
  expect(commands).toEqual(['x y'])
})

test('passes on all output before an error', () => {
  let output = ''
  const cpp = new Preprocessor({ file: 'in' }, (block) => {
    output += block
  })
  expect(failure(() => cpp.write('a\n#define 9\nb\n')).message).toBe(
    'pmcpp: in[2]: #define 9\npmcpp: Error: Illegal character in macro name',
  )
  expect(output).toBe('# 1 "in"\na\n')
})

test('replaces comments byte for byte', () => {
  expect(preprocess('é/* é */x\n', { file: 'in', hasMarkers: false })).toBe('é        x\n')
})

test('keeps carriage returns of text, not of directives and comment lines', () => {
  const text = '#define A 1\r\nA\r\nb /* c */ \r\n'
  expect(preprocess(text, { file: 'in', hasMarkers: false })).toBe('\n1\r\nb\n')
})

test('takes macros from the caller', () => {
  const options = { file: 'in', hasMarkers: false, defines: { D: '29', EMPTY: '' } }
  expect(preprocess('x D:*:*[EMPTY]\n', options)).toBe('x 29:*:*[]\n')
})

test('names of object properties are not macros', () => {
  expect(preprocess('#define A 1\nconstructor __proto__\n', { file: 'in', hasMarkers: false })).toBe(
    '\nconstructor __proto__\n',
  )
})

test('gives the same output however the input is cut', () => {
  const text = '/* a\nb */ x\n#define A 1\nA b A\n#ifdef A\nyes\n#else\nno\n#endif\nlast'
  const whole = preprocess(text, { file: 'in' })
  for (let cut = 0; cut <= text.length; cut++) expect(inChunks(text, [cut])).toBe(whole)
  expect(
    inChunks(
      text,
      Array.from({ length: text.length }, (_, i) => i),
    ),
  ).toBe(whole)
})

test('never throws anything but PcpError', () => {
  const piece = fc.constantFrom(
    '#define ',
    '#include ',
    '#ifdef ',
    '#else',
    '#endif',
    '#undef ',
    '#shell ',
    '/*',
    '*/',
    '"',
    "'",
    '<in>',
    'A',
    ' ',
    '\n',
    '#{',
    '}',
    '%',
  )
  const text = fc.array(fc.oneof(piece, fc.string())).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, fc.boolean(), fc.boolean(), (input, isPercent, isRestricted) => {
      const resolve = (name: string): { path: string; text: string } | undefined =>
        name.length > 3 ? undefined : { path: name, text: input }
      try {
        preprocess(input, { file: 'in', isPercent, isRestricted, resolve, runShell: (command) => command })
      } catch (error) {
        expect(error).toBeInstanceOf(PcpError)
      }
    }),
    { numRuns: 300 },
  )
})
