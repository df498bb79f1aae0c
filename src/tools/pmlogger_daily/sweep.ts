/** What commands that were killed have left in a directory of archives: nobody will ever finish it. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../../pmlogger/run-files.ts'
import type { Job } from './job.ts'

/** `.BASE.PID.new.PART`: an output before it has its name. */
const UNNAMED = /^\.(?<base>.+)\.(?<pid>\d+)\.new\.(?<part>meta|index|\d+)$/
/** A directory in which an archive is rewritten. */
const WORK = /^\.rewrite-/
const DAY_MS = 86_400_000

/** Removes it. Directories have no process to ask for: they go when they are a day old. */
export function sweep({ dir, voice, io }: Job): void {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    const { base, pid, part } = UNNAMED.exec(name)?.groups ?? {}
    const isLeft = pid === undefined ? WORK.test(name) && isOld(path, io.now()) : !isAlive(Number(pid))
    if (!isLeft) continue
    for (const left of [...(base === undefined ? [] : halfNamed(dir, base, part!, path)), path])
      if (voice.showsOnly) voice.show(`rm -rf ${left}`)
      else {
        voice.tell(1, `Removing ${left}, which a command that was killed has left`)
        rmSync(left, { recursive: true, force: true })
      }
  }
}

/** The name that a part has got already, when the archive lacks its metadata, which gets its name last. */
function halfNamed(dir: string, base: string, part: string, path: string): string[] {
  const named = join(dir, `${base}.${part}`)
  const isSame = statSync(named, { throwIfNoEntry: false })?.ino === statSync(path).ino
  return isSame && !existsSync(join(dir, `${base}.meta`)) ? [named] : []
}

function isOld(path: string, now: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && now - stats.mtimeMs > DAY_MS
}
