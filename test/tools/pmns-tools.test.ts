/** Commands that change name space files: differences from the reference, which interop tests cannot show. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as makeStdpmid } from '../../src/tools/Make.stdpmid.ts'
import { tool as pmnsadd } from '../../src/tools/pmnsadd.ts'
import { tool as pmnsdel } from '../../src/tools/pmnsdel.ts'
import { tool as pmnsmerge } from '../../src/tools/pmnsmerge.ts'
import { tool as rebuild } from '../../src/tools/Rebuild.ts'
import { testIo } from './run-tool.ts'

let cwd: string
beforeEach(() => {
  cwd = join(mkdtempSync(join(tmpdir(), 'pmns-tools-')), 'pmns')
  mkdirSync(cwd)
})
afterEach(() => rmSync(join(cwd, '..'), { recursive: true }))

const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
const read = (name: string): string => readFileSync(join(cwd, name), 'utf8')

async function run(tool: Tool, line: string): Promise<{ status: number; stdout: string; stderr: string }> {
  const env = { PCP_VAR_DIR: join(cwd, '..'), PCP_PMCDCONF_PATH: join(cwd, 'pmcd.conf') }
  const args = line.split(' ').filter((word) => word !== '')
  const io = { ...testIo(tool.name, args, env), cwd }
  const status = await tool.run(io)
  return { status, ...io.printed }
}

const AB = 'root {\n\ta\t1:1:1\n\tb\t1:1:2\n}\n'

describe('pmnsmerge', () => {
  test('can write to one of its inputs', async () => {
    write('x', AB)
    write('y', 'root {\n\tc\t1:1:3\n}\n')
    expect(await run(pmnsmerge, '-f x y x')).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(read('x')).toBe('root {\n\ta\t1:1:1\n\tb\t1:1:2\n\tc\t1:1:3\n}\n')
  })

  test('with -f keeps the old output when it fails', async () => {
    write('x', AB)
    write('bad', 'root {\n')
    write('twice', 'root {\n\ta\t1:1:1\n\tc\t1:1:2\n}\n')
    write('out', 'precious')
    expect((await run(pmnsmerge, '-f x bad nope out')).status).toBe(1)
    expect((await run(pmnsmerge, '-fx x twice out')).stderr).toContain('Duplicate metric id (1.1.2)')
    expect(read('out')).toBe('precious')
    expect(readdirSync(cwd).sort()).toEqual(['bad', 'out', 'twice', 'x'])
  })

  test('refuses an output that could not be read back', async () => {
    const [p, q, r] = ['p'.repeat(120), 'q'.repeat(120), 'r'.repeat(11)]
    // The line has the maximum length without the brace, which moves onto it.
    write('x', `root { ${p}\n}\n${p} { ${q}\n}\n${p}.${q}\n{ ${r}\n}\n${p}.${q}.${r}\n{ s 1:1:1\n}\n`)
    write('out', 'precious')
    const { status, stderr } = await run(pmnsmerge, '-f x out')
    expect(status).toBe(1)
    expect(stderr).toContain('Absurdly long line, cannot recover')
    expect(read('out')).toBe('precious')
  })
})

describe('pmnsadd', () => {
  test('warns if a metric is replaced by names below it', async () => {
    write('ns', AB)
    write('sub', 'a.x {\n\ty\t1:2:1\n}\n')
    expect(await run(pmnsadd, '-n ns sub')).toEqual({
      status: 0,
      stdout: '',
      stderr:
        'pmnsadd: Warning: performance metric "a" gives way to the names below it.\n... dropping PMID 1.1.1\n',
    })
    expect(read('ns')).toBe('root {\n\ta\n\tb\t1:1:2\n}\n\na {\n\tx\n}\n\na.x {\n\ty\t1:2:1\n}\n')
  })

  test.each([
    ['an empty file', '', 'No name space entry for "root"'],
    ['a subtree without metrics', 'x {\n}\n', 'no metric is named in "sub"'],
    [
      'a syntax error, with its line',
      '\n/* c */\nx {\n\ty 1:\n}\n',
      '[sub:4] Error Parsing ASCII PMNS: Illegal PMID',
    ],
  ])('refuses %s', async (_, text, message) => {
    write('ns', AB)
    write('sub', text)
    const { status, stdout, stderr } = await run(pmnsadd, '-n ns sub')
    expect(stderr).toContain(message)
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: 'pmnsadd: No changes have been made to the PMNS file "ns"\n',
    })
    expect(read('ns')).toBe(AB)
    expect(readdirSync(cwd).sort()).toEqual(['ns', 'sub'])
  })
})

test('pmnsdel uses the name space of $PCP_VAR_DIR by default', async () => {
  write('root', AB)
  expect(await run(pmnsdel, 'b')).toEqual({ status: 0, stdout: '', stderr: '' })
  expect(read('root')).toBe('root {\n\ta\t1:1:1\n}\n')
})

describe('Rebuild', () => {
  beforeEach(() => {
    write('pmcd.conf', 'x 400 pipe binary x\n')
    write('stdpmid.local', 'XYZ 400\n')
    write('root_x', '#include <stdpmid>\nroot { x\n}\nx { y XYZ:0:1\n}\n')
    write('root_z', 'root { z 401:0:1\n}\n')
  })
  const X = 'root {\n\tx\n}\n\nx {\n\ty\t400:0:1\n}\n'

  test('makes missing root and stdpmid files', async () => {
    expect(await run(rebuild, '-u')).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(read('root')).toBe(X)
    expect(read('stdpmid')).toContain('#define XYZ\t400\n')
    expect(readdirSync(cwd).filter((name) => /lock|edit|new$/.test(name))).toEqual([])
  })

  test('leaves root alone without changes of names', async () => {
    write('root', 'root { x\n}\nx { y 400 : 0 : 1\n}\n')
    expect((await run(rebuild, '-v')).stdout).toMatch(/Rebuild: PMNS is unchanged\.\n$/)
    expect(read('root')).toBe('root { x\n}\nx { y 400 : 0 : 1\n}\n')
  })

  test('-u -v shows added and removed names', async () => {
    write('root', 'root { x keep 9:9:9\n}\nx { old 400:0:9\n}\n')
    expect((await run(rebuild, '-uv')).stdout).toMatch(
      /\+ PMNS differences \.\.\.\n- x\.old PMID: 400\.0\.9\n\+ x\.y PMID: 400\.0\.1\n$/,
    )
    expect(read('root')).toBe('root {\n\tkeep\t9:9:9\n\tx\n}\n\nx {\n\ty\t400:0:1\n}\n')
    expect(read('root.prev')).toBe('root { x keep 9:9:9\n}\nx { old 400:0:9\n}\n')
  })

  test('-n changes nothing', async () => {
    const before = readdirSync(cwd)
    write('stdpmid', '#define XYZ 400\n')
    expect((await run(rebuild, '-no')).stdout).toContain('    root root_x root_z\n')
    expect(readdirSync(cwd).sort()).toEqual([...before, 'stdpmid'].sort())
  })

  test('an invalid agent file changes nothing and is reported', async () => {
    write('root', AB)
    write('root_x', 'root {\n\tx 400:\n}\n')
    const { status, stdout } = await run(rebuild, '')
    expect(status).toBe(1)
    expect(stdout).toContain('[root_x:2] Error Parsing ASCII PMNS: Illegal PMID')
    expect(stdout).toContain('Rebuild: pmnsmerge failed\n         "root" has not been changed.\n')
    expect(read('root')).toBe(AB)
  })
})

describe('Make.stdpmid', () => {
  test('reports invalid entries, and writes the valid ones', async () => {
    write('stdpmid.local', 'GOOD 400\nBAD 600\nLOW 20\n')
    write('stdpmid.local~', 'LEFTOVER 401\n')
    expect(await run(makeStdpmid, '')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'Make.stdpmid: Error: domain number "600" is not in 1 to 510 ...\n    stdpmid.local:BAD 600\n' +
        'Make.stdpmid: Warning: domain number "20" is for agents distributed with PCP ...\n    stdpmid.local:LOW 20\n',
    })
    expect(read('stdpmid').match(/^#define \w+\t\d+$/gm)).toEqual(['#define LOW\t20', '#define GOOD\t400'])
  })

  test('needs registers', async () => {
    expect(await run(makeStdpmid, '')).toEqual({
      status: 1,
      stdout: '',
      stderr: `Make.stdpmid: Error: no stdpmid.* files in ${cwd}\n`,
    })
  })
})
