import { expect, test } from 'vitest'
import { Progress } from '../../../src/tools/lib/progress.ts'
import type { ToolIo } from '../../../src/tools/lib/tool.ts'
import { testIo } from '../run-tool.ts'

/** A command with a fake clock, on a terminal or not. */
function onTerminal(isTerminal: boolean) {
  const plain = testIo('tool', [])
  let written = ''
  let now = 0
  const write = (text: string): void => {
    written += text
  }
  const stderr = { ...plain.stderr, isTerminal, write, writeControls: write }
  const io: ToolIo = { ...plain, stderr, stdout: { ...plain.stdout, isTerminal }, now: () => now }
  const at = (ms: number): void => {
    now = ms
  }
  return { io, at, written: () => written }
}

test('a terminal shows progress of long work, and clears it at the end', () => {
  const { io, at, written } = onTerminal(true)
  const progress = new Progress(io, 200)
  at(900)
  progress.update(10)
  expect(written()).toBe('')
  at(1100)
  progress.update(50)
  at(1200)
  progress.update(60)
  expect(written()).toBe('\rtool: 25 %')
  at(1400)
  progress.update(500)
  progress.clear()
  progress.clear()
  expect(written()).toBe(`\rtool: 25 %\rtool: 100 %\r${' '.repeat(11)}\r`)
})

test('files and pipes, and work of unknown length, show nothing', () => {
  for (const [isTerminal, total] of [
    [false, 100],
    [true, 0],
  ] as const) {
    const { io, at, written } = onTerminal(isTerminal)
    const progress = new Progress(io, total)
    at(5000)
    progress.update(50)
    progress.clear()
    expect(written()).toBe('')
  }
})
