/** Marks, unmarks or removes a single line of a control file and leaves the rest alone. */
import { parseControl, STOPPED } from '../admin/control-lines.ts'

/** A changed text, with the difference as diff(1) shows it. */
export interface EditedText {
  readonly text: string
  readonly difference: string
}

/** Marks line `number` (from 1) as stopped. */
export function disableLine(text: string, number: number): EditedText {
  return changeLine(text, number, (line) => line.replace(/^(\s*)/, `$1${STOPPED}`))
}

/** Removes the mark of a stopped instance. */
export function enableLine(text: string, number: number): EditedText {
  return changeLine(text, number, (line) => line.replace(STOPPED, ''))
}

/** Removes a line. */
export function removeLine(text: string, number: number): EditedText {
  const lines = text.split('\n')
  const [removed = ''] = lines.splice(number - 1, 1)
  return { text: lines.join('\n'), difference: `${number}d${number - 1}\n< ${removed}\n` }
}

/** Does a control file still have instances, including stopped ones? */
export function hasInstances(text: string): boolean {
  return parseControl(text).some(({ kind }) => kind === 'instance')
}

function changeLine(text: string, number: number, change: (line: string) => string): EditedText {
  const lines = text.split('\n')
  const before = lines[number - 1] ?? ''
  const after = change(before)
  lines[number - 1] = after
  return { text: lines.join('\n'), difference: `${number}c${number}\n< ${before}\n---\n> ${after}\n` }
}
