/** stdpmid from valid and invalid registers. */
import { expect, test } from 'vitest'
import { preprocess } from '../../src/pmns/cpp.ts'
import { makeStdpmid, type Stdpmid } from '../../src/pmns/stdpmid.ts'

const PCP = { file: 'stdpmid.pcp', text: '# register\nROOT\t1\nSAMPLE\t\t29\nRESERVED_DO_NOT_USE 511\n' }

function withLocal(text: string): Stdpmid & { readonly defines: string[] } {
  const made = makeStdpmid([{ file: 'stdpmid.local', text }, PCP])
  return { ...made, defines: made.text.split('\n').filter((line) => /^#define [^_]/.test(line)) }
}

test('defines what the registers list, by number', () => {
  const { text, defines, errors, warnings } = withLocal('# ours\n\n  B 510 # last\nA\t400\n')
  expect(defines).toEqual([
    '#define ROOT\t1',
    '#define SAMPLE\t29',
    '#define A\t400',
    '#define B\t510',
    '#define RESERVED_DO_NOT_USE\t511',
  ])
  expect([...errors, ...warnings]).toEqual([])
  const twice = `#include <stdpmid>\n#include <stdpmid>\nA SAMPLE\n`
  const expanded = preprocess(twice, { file: 'x', hasMarkers: false, resolve: (path) => ({ path, text }) })
  expect(expanded.trim()).toBe('400 29')
})

test.each([
  ['X 0\n', 'domain number "0" is not in 1 to 510 ...\n    stdpmid.local:X 0'],
  ['X 511\n', 'domain number "511" is not in 1 to 510 ...\n    stdpmid.local:X 511'],
  ['X 512\n', 'domain number "512" is not in 1 to 510 ...\n    stdpmid.local:X 512'],
  ['X -1\n', 'domain number "-1" is not a number ...\n    stdpmid.local:X -1'],
  ['X\n', 'domain number "" is not a number ...\n    stdpmid.local:X'],
  ['X-Y 400\n', 'domain name "X-Y" is not a symbol ...\n    stdpmid.local:X-Y 400'],
  [
    'SAMPLE 400\n',
    'duplicate for domain name "SAMPLE" ...\n    stdpmid.local:SAMPLE 400\n    stdpmid.pcp:SAMPLE\t\t29',
  ],
])('%j is refused and left out', (text, error) => {
  const { errors, defines } = withLocal(text)
  expect(errors).toEqual([error])
  expect(defines).toEqual(['#define ROOT\t1', '#define SAMPLE\t29', '#define RESERVED_DO_NOT_USE\t511'])
})

test('two symbols of one number are an error, but both are defined', () => {
  const { errors, defines } = withLocal('X 400\nY 400\n')
  expect(errors).toEqual([
    'duplicate for domain number "400" ...\n    stdpmid.local:X 400\n    stdpmid.local:Y 400',
  ])
  expect(defines).toContain('#define X\t400')
  expect(defines).toContain('#define Y\t400')
})

test('a number reserved for agents of PCP causes a warning', () => {
  expect(withLocal('X 300\n').warnings).toEqual([
    'domain number "300" is for agents distributed with PCP ...\n    stdpmid.local:X 300',
  ])
  expect(withLocal('ROOT 1\n')).toMatchObject({ warnings: [], errors: [] })
})
