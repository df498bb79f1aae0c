/** The file that a report goes to. */
import { openSync } from 'node:fs'
import { devNull } from 'node:os'
import { FdOutput } from '../output.ts'
import type { Output } from '../tool.ts'

/**
 * Makes the file of -F, which must not exist; `isCheck`: of a report that is only checked, which leaves none. To be made
 * once everything is known to be there: what an error left behind would be in the way of the next run.
 */
export function fileOutput(path: string, isCheck: boolean): Output {
  return new FdOutput(isCheck ? openSync(devNull, 'w') : openSync(path, 'wx'), () => {})
}
