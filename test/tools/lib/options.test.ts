import { afterEach, expect, test } from 'vitest'
import { clearDebug, debugList } from '../../../src/model/debug.ts'
import { handleEarlyExit, type OptionTable, parseOptions, usageText } from '../../../src/tools/lib/options.ts'
import { parseStandard, STANDARD } from '../../../src/tools/lib/standard.ts'
import { testIo } from '../run-tool.ts'

const TABLE: OptionTable = {
  synopsis: '[options] [thing ...]',
  rows: [
    { heading: 'General options' },
    STANDARD.debug,
    { short: 'a', long: 'all', help: 'take all' },
    { short: 'n', long: 'number', arg: 'N', help: 'take N' },
    { long: 'a-long-name', arg: 'SOMETHING', help: 'is on a separate line' },
    { short: 'q' },
    STANDARD.help,
  ],
}

afterEach(() => clearDebug('all'))

function given(...args: string[]): readonly string[] {
  const { given: found, operands, problems } = parseOptions(TABLE, { args, env: {} })
  return [
    ...found.map(({ name, value }) => `-${name}${value}`),
    ...operands,
    ...problems.map((text) => `! ${text}`),
  ]
}

test('letters in a bundle, values with or without a blank, operands between options', () => {
  expect(given('-an', '3', 'x', '-n4', '--', '-a')).toEqual(['-a', '-n3', '-n4', 'x', '-a'])
})

test('unique prefixes of long names are accepted', () => {
  expect(given('--num=3', '--number', '4', '--al')).toEqual(['-n3', '-n4', '-a'])
  expect(given('--a')).toEqual([`! option '--a' is ambiguous; possibilities: '--all' '--a-long-name'`])
  expect(given('--all=1', '--no', '-z')).toEqual([
    `! option '--all' doesn't allow an argument`,
    `! unrecognized option '--no'`,
    `! invalid option -- 'z'`,
  ])
})

test('the usage text has help in a column', () => {
  expect(usageText(TABLE, 'pmdemo')).toBe(
    [
      'Usage: pmdemo [options] [thing ...]',
      '',
      'General options:',
      '  -a, --all             take all',
      '  -n N, --number=N      take N',
      '  --a-long-name=SOMETHING',
      '                        is on a separate line',
      '  -?, --help            print this text and exit',
      '',
    ].join('\n'),
  )
})

test('a command that runs has the diagnostics of -D on, and no others', () => {
  const start = (...args: string[]): number | undefined => {
    const io = testIo('pmdemo', args)
    return handleEarlyExit(TABLE, parseStandard(TABLE, io), io)
  }
  expect(start('-D', 'fetch,pdu')).toBeUndefined()
  expect(debugList()).toBe('pdu,fetch')
  expect(start('-a')).toBeUndefined()
  expect(debugList()).toBe('')
  expect(start('-D', 'nosuch')).toBe(1)
})
