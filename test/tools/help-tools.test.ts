/** newhelp and chkhelp: their output and files. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tool as chkhelp } from '../../src/tools/chkhelp.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as newhelp } from '../../src/tools/newhelp.ts'
import { testIo } from './run-tool.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'help-tools-'))
  writeFileSync(
    join(cwd, 'root'),
    'root {\n\ta\t29:0:1\n\tb\t29:0:2\n\tc\t29:0:1\n\td\n}\nd {\n\te\t29:0:3\n}\n',
  )
})
afterEach(() => rmSync(cwd, { recursive: true }))

async function run(tool: Tool, args: readonly string[], input = '') {
  const stdin = (async function* () {
    yield Buffer.from(input)
  })()
  const io = { ...testIo(tool.name, args, { PMNS_DEFAULT: join(cwd, 'root') }), cwd, stdin }
  const status = await tool.run(io)
  return { status, ...io.printed }
}

const SOURCE = '@ a one line\nfull\ntext\n@ 29.1 indom\n@ b\n'

test('chkhelp prints the files of newhelp', async () => {
  writeFileSync(join(cwd, 'help'), SOURCE)
  expect(await run(newhelp, ['help'])).toEqual({ status: 0, stdout: '', stderr: '' })
  expect(await run(chkhelp, ['help'])).toEqual({ status: 0, stdout: '', stderr: '' })
  expect((await run(chkhelp, ['-ip', 'help'])).stdout).toBe(
    '\nPMID 29.0.1 c or a: one line\n\nPMID 29.0.2 b: <no one line available>\n\nInDom 29.1: indom\n',
  )
  expect((await run(chkhelp, ['-H', 'help', 'a', 'd', 'd.e', 'x'])).stdout).toBe(
    '\nPMID 29.0.1 a:full\ntext\n\nd: Metric name is not a leaf in PMNS\n' +
      '\nPMID 29.0.3 d.e:<empty full text string>\n\nx: Unknown metric name\n',
  )
  expect((await run(chkhelp, ['-e', 'help'])).stdout).toBe('d.e\n')
  expect((await run(chkhelp, ['-e', 'help', 'a', 'x'])).stderr).toBe('chkhelp: x: Unknown metric name\n')
})

test('standard input needs -o; several sources make one file', async () => {
  expect(await run(newhelp, [], SOURCE)).toEqual({
    status: 2,
    stdout: '',
    stderr: 'newhelp: need either a -o option or a filename argument to name the output file\n',
  })
  expect((await run(newhelp, ['-o', 'out'], SOURCE)).status).toBe(0)
  writeFileSync(join(cwd, 'more'), '@ d.e third\n@ a again\n')
  writeFileSync(join(cwd, 'help'), SOURCE)
  const { status, stderr } = await run(newhelp, ['-V', '-o', 'out', 'help', 'more'])
  expect(status).toBe(2)
  expect(stderr.split('\n')).toEqual([
    'a',
    'newhelp: [help:5] 29.1: warning, null help',
    'newhelp: [help:6] b: warning, null oneline',
    'newhelp: [help:6] b: warning, null help',
    'newhelp: [more:2] d.e: warning, null help',
    'newhelp: [more:3] a: duplicate key, entry abandoned',
    '',
  ])
  expect((await run(chkhelp, ['-O', 'out', 'd.e'])).stdout).toBe('\nPMID 29.0.3 d.e: third\n')
})

test('on errors newhelp returns 2 and chkhelp 1, without leaving files', async () => {
  expect((await run(newhelp, ['-v', '1', 'help'])).stderr).toMatch(
    /^newhelp: deprecated option - only version 2/,
  )
  expect((await run(newhelp, ['--version'])).stderr).toMatch(
    /^newhelp: option '--version' requires an argument\nUsage: /,
  )
  expect((await run(newhelp, ['nope'])).stderr).toBe('nope: No such file or directory\n')
  expect((await run(newhelp, ['-n', 'nope', 'root'])).status).toBe(2)
  expect(existsSync(join(cwd, 'root.pag'))).toBe(false)
  expect((await run(newhelp, ['-o', 'nodir/x'], SOURCE)).stderr).toBe(
    'newhelp: fopen("nodir/x.pag", ...) failed: No such file or directory\n',
  )
  expect((await run(chkhelp, ['nope'])).stderr).toBe(
    'pmdaOpenHelp: failed to open "nope": No such file or directory\n',
  )
  expect((await run(chkhelp, [])).stderr).toMatch(/^chkhelp: missing helpfile argument\n\nUsage: /)
  expect((await run(chkhelp, ['-ep', 'x'])).stderr).toMatch(
    /^chkhelp: -e cannot be used with -i or -p\n\nUsage: /,
  )
  expect((await run(chkhelp, ['-p', 'x', 'a'])).status).toBe(1)
  expect((await run(chkhelp, ['-H', 'x'])).status).toBe(1)
})

test('chkhelp reports where a file is damaged', async () => {
  await run(newhelp, ['-o', 'out'], SOURCE)
  const pag = join(cwd, 'out.pag')
  writeFileSync(pag, readFileSync(pag).subarray(0, 20))
  expect(await run(chkhelp, ['out'])).toMatchObject({
    status: 1,
    stderr: 'pmdaOpenHelp: failed to open "out": Entry 1 of 3: no text ends after offset 12 of .pag\n',
  })
})
