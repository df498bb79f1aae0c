import { expect, test } from 'vitest'
import { encodeText } from '../../src/base/text.ts'
import { tool } from '../../src/tools/pmjson/index.ts'
import { testIo } from './run-tool.ts'

async function pmjson(args: readonly string[], text: string, isTerminal = false) {
  const io = testIo('pmjson', args)
  const terminal = {
    ...io,
    stderr: { ...io.stderr, isTerminal },
    stdin: (async function* () {
      yield encodeText(text)
    })(),
  }
  return { status: await tool.run(terminal), ...io.printed }
}

const TEXT =
  '{"a": [1, 2.50, true, null, "x\\u00e9\\n/"], "b": {}, "c":[], "d":{"e":-1e5}, "big": 12345678901234567890}'

// Layouts are those of PCP 6.0.3.
test('only removes blanks', async () => {
  const stdout =
    '{"a":[1,2.50,true,null,"x\\u00e9\\n/"],"b":{},"c":[],"d":{"e":-1e5},"big":12345678901234567890}\n'
  expect(await pmjson(['-m'], TEXT)).toEqual({ status: 0, stdout, stderr: '' })
})

test('puts each member and item on a line', async () => {
  const { stdout } = await pmjson([], '{"a":[{"x":1,"y":[[]]},2],"b":{}}')
  expect(stdout).toBe(`{
    "a": [
        {
            "x": 1,
            "y": [
                [                ]
            ]
        },
        2
    ],
    "b": {    }
}
`)
})

test('writes like YAML', async () => {
  const { stdout } = await pmjson(['-y'], '{"l":[{"x":1,"y":[[1]]},[]],"e":{},"s":"t"}')
  expect(stdout.split('\n')).toEqual([
    'l: ',
    '      - ',
    '        x: 1',
    '        y: ',
    '              - ',
    '                  - 1',
    '      - ',
    '',
    'e: ',
    '',
    's: t',
    '',
  ])
})

test.each([
  ['{"a":1', 'No data available', 'line 1, column 7: unexpected end, expected , or }'],
  ['', 'No data available', 'line 1, column 1: unexpected end, expected a value'],
  ['{"a" 1}', 'Invalid argument', 'line 1, column 6: expected :'],
  ['{"a":1,\n]', 'Invalid argument', 'line 2, column 1: expected , or }'],
  ['[1 (]', 'Invalid argument', 'line 1, column 4: expected , or ]'],
  ['[1] 2', 'Invalid argument', 'line 1, column 5: unexpected text after the value'],
  ['[tru]', 'Invalid argument', 'line 1, column 2: expected a value'],
  ['"a\tb"', 'Invalid argument', 'line 1, column 1: expected a terminated string'],
])('refuses %j', async (text, why, where) => {
  const stderr = `pmjson failed: ${why}\n`
  expect(await pmjson([], text)).toEqual({ status: 1, stdout: '', stderr })
  expect((await pmjson([], text, true)).stderr).toBe(`${stderr}${where}\n`)
  expect(await pmjson(['-q'], text)).toEqual({ status: 1, stdout: '', stderr: '' })
})

test.each([
  ['[1,]', '[1]'],
  ['[,1 2,,3]', '[1,2,3]'],
  ['["a""b"]', '["a","b"]'],
  ['[{"a":1}{"b":2}]', '[{"a":1},{"b":2}]'],
  ['{,"a":1 "b":2,}', '{"a":1,"b":2}'],
])('accepts commas as PCP does: %s', async (text, stdout) => {
  expect(await pmjson(['-m'], text)).toEqual({ status: 0, stdout: `${stdout}\n`, stderr: '' })
})

test('refuses deeply nested lists', async () => {
  expect((await pmjson(['-q'], '['.repeat(100_000))).status).toBe(1)
})

test('reports a missing file, with a separate status', async () => {
  expect(await pmjson(['-i', '/nosuch'], '')).toEqual({
    status: 2,
    stdout: '',
    stderr: '/nosuch: No such file or directory\n',
  })
})
