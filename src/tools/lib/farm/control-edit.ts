/** Changes to the text of control files: one line is marked, unmarked or removed, and nothing else is touched. */
import { parseControl, STOPPED } from '../admin/control-lines.ts'

/** A changed text, and the difference as diff(1) shows it. */
export interface Edit {
  readonly text: string
  readonly difference: string
}

/** Marks line `number` (from 1) as stopped. */
export function disableLine(text: string, number: number): Edit {
  return changeLine(text, number, (line) => line.replace(/^(\s*)/, `$1${STOPPED}`))
}

/** Takes the mark away. */
export function enableLine(text: string, number: number): Edit {
  return changeLine(text, number, (line) => line.replace(STOPPED, ''))
}

/** Removes it. */
export function removeLine(text: string, number: number): Edit {
  const lines = text.split('\n')
  const [removed = ''] = lines.splice(number - 1, 1)
  return { text: lines.join('\n'), difference: `${number}d${number - 1}\n< ${removed}\n` }
}

/** Does a text have instances, stopped ones too? Without any a file is of no use. */
export function hasInstances(text: string): boolean {
  return parseControl(text).some(({ kind }) => kind === 'instance')
}

function changeLine(text: string, number: number, change: (line: string) => string): Edit {
  const lines = text.split('\n')
  const before = lines[number - 1] ?? ''
  const after = change(before)
  lines[number - 1] = after
  return { text: lines.join('\n'), difference: `${number}c${number}\n< ${before}\n---\n> ${after}\n` }
}
