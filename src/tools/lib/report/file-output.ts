/** The output file of a report. */
import { openSync } from 'node:fs'
import { devNull } from 'node:os'
import { FdOutput } from '../output.ts'
import type { Output } from '../tool.ts'

/**
 * Creates the file of -F, which must not exist, or discards output with `isCheck`. Call it after all other checks, as a file left
 * behind by a failed run would make the next one fail.
 */
export function fileOutput(path: string, isCheck: boolean): Output {
  return new FdOutput(isCheck ? openSync(devNull, 'w') : openSync(path, 'wx'), () => {})
}
