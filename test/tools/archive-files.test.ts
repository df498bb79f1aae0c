import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { tool as pmlogmv } from '../../src/tools/pmlogmv.ts'
import { tool as pmlogsize } from '../../src/tools/pmlogsize/index.ts'
import { onDisk, sampleArchive } from './archive-runner.ts'
import { runTool, testIo } from './run-tool.ts'

let made: ReturnType<typeof onDisk> | undefined
afterEach(() => made?.remove())

function make(): string {
  made = onDisk(sampleArchive(2))
  return made.path
}

const PARTS = ['0', 'index', 'meta']

describe('pmlogmv, pmlogcp, pmlogls', () => {
  it('moves and reports all files', async () => {
    const path = make()
    const before = PARTS.map((part) => readFileSync(`${path}.${part}`))
    const { status, stdout } = await runTool(pmlogmv, ['-V', path, `${path}2`])
    expect([status, stdout.split('\n')[0]]).toEqual([0, `link ${path}.0 -> ${path}2.0`])
    expect(PARTS.map((part) => readFileSync(`${path}2.${part}`))).toEqual(before)
    expect(PARTS.some((part) => existsSync(`${path}.${part}`))).toBe(false)
  })

  it('copies and lists by the names it is called by', async () => {
    const path = make()
    expect(await pmlogmv.run(testIo('pmlogcp', ['-c', path, `${path}2`]))).toBe(0)
    const io = testIo('pmlogls', [`${path}2`])
    expect(await pmlogmv.run(io)).toBe(0)
    expect(io.printed.stdout).toBe(PARTS.map((part) => `${path}2.${part}\n`).join(''))
    expect(existsSync(`${path}.0`)).toBe(true)
  })

  it('lists all archives of a directory', async () => {
    const path = make()
    expect(await pmlogmv.run(testIo('pmlogcp', [path, `${path}2`]))).toBe(0)
    const io = testIo('pmlogls', [made!.directory])
    expect(await pmlogmv.run(io)).toBe(0)
    expect(io.printed.stdout).toBe(
      [path, `${path}2`].flatMap((base) => PARTS.map((part) => `${base}.${part}\n`)).join(''),
    )
  })

  it('touches nothing when a file is in the way, or a name is unsafe', async () => {
    const path = make()
    writeFileSync(`${path}2.meta`, 'mine')
    expect((await runTool(pmlogmv, [path, `${path}2`])).stderr).toBe(
      `pmlogmv: ${path}2.meta: already exists\n`,
    )
    expect(readFileSync(`${path}2.meta`, 'utf8')).toBe('mine')
    expect(PARTS.every((part) => existsSync(`${path}.${part}`))).toBe(true)
    const { stderr } = await runTool(pmlogmv, [path, join(made!.directory, 'a b')])
    expect(stderr).toContain("unsafe [shell metacharacter ' ']")
  })

  it('shows the commands without running them', async () => {
    const path = make()
    const { stdout } = await runTool(pmlogmv, ['-N', path, `${path}2`])
    expect(stdout).toContain(`+ ln-or-cp ${path}.index ${path}2.index\n`)
    expect(existsSync(`${path}2.0`)).toBe(false)
  })
})

describe('pmlogsize', () => {
  it('adds up every byte of every file', async () => {
    const path = make()
    const { stdout, status } = await runTool(pmlogsize, ['-r', path])
    expect(status).toBe(0)
    for (const part of PARTS) {
      const [, section] = stdout.split(`${path}.${part}:\n`)
      const lines = section!.split('\n').filter((line) => /^ {2}\w/.test(line))
      const end = lines.findIndex((line) => line.startsWith('  overhead'))
      const sum = lines
        .slice(0, end + 1)
        .reduce((total, line) => total + Number(/: (\d+) bytes/.exec(line)![1]), 0)
      expect(sum).toBe(readFileSync(`${path}.${part}`).length)
    }
    expect(stdout).toContain('  data: ')
    expect(stdout).toContain(', 8 records (+ 1 <mark> records)]\n')
    expect(stdout).toContain('    9.1: 50 bytes [')
  })

  it('ends details once they explain enough of the size', async () => {
    const { stdout } = await runTool(pmlogsize, ['-dx', '10', `${make()}.0`])
    expect(stdout.split('\n').filter((line) => line.startsWith('    '))).toHaveLength(2)
    expect(stdout).toContain('    ...\n')
  })
})
