/** One run of pmlogctl or pmiectl: what it was asked for, how it speaks, and the files it prepares. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Variables } from '../../../sys/config.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { replaceFile } from '../../../sys/replace-file.ts'
import type { ToolIo } from '../tool.ts'
import type { FarmPlace } from './farm-files.ts'

/** The options of both commands. */
export interface FarmOptions {
  readonly isAll: boolean
  readonly className: string | undefined
  readonly checkArgs: readonly string[]
  readonly isForced: boolean
  readonly ident: string | undefined
  readonly migrates: boolean
  readonly showsOnly: boolean
  readonly policyPath: string | undefined
  readonly verbosity: number
}

/** What every action needs. */
export interface FarmRun extends FarmPlace, FarmOptions {
  readonly io: ToolIo
  readonly say: (text: string) => void
  /** Text for those who asked for it, once or twice. */
  readonly tell: (level: 1 | 2, text: string) => void
  readonly error: (text: string) => void
  /** Lines on the standard error, without a word before them. */
  readonly complain: (text: string) => void
  readonly scratch: Scratch
}

/** Begins a run. Warnings and errors are lines on the standard error, beginning so. */
export function beginRun(place: Omit<FarmPlace, 'warn'>, options: FarmOptions, io: ToolIo): FarmRun {
  const { kind, variables } = place
  // Behind what was said before it: both may go to the same place.
  const complain = (text: string): void => {
    void io.stdout.flush()
    io.stderr.write(`${text.trimEnd()}\n`)
  }
  return {
    ...place,
    ...options,
    io,
    say: (text) => io.stdout.write(`${text}\n`),
    tell: (level, text) => {
      if (options.verbosity >= level) io.stdout.write(`${text}\n`)
    },
    warn: (text) => complain(`Warning: ${text}`),
    error: (text) => complain(`Error: ${text}`),
    complain,
    scratch: openScratch(kind.command, variables),
  }
}

/** A directory for what is being prepared, made when it is first needed. */
export interface Scratch {
  path(name: string): string
  close(): void
}

function openScratch(command: string, variables: Variables): Scratch {
  let dir: string | undefined
  return {
    path: (name) => {
      dir ??= mkdtempSync(join(variables['PCP_TMPFILE_DIR'] ?? '/var/tmp', `${command}.`))
      return join(dir, name)
    },
    close: () => {
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Puts a control file in its place, or shows that it would. Throws Node's error. */
export function installControl({ scratch, showsOnly, say }: FarmRun, path: string, text: string): void {
  if (!showsOnly) {
    makeDir(dirname(path), 0o755)
    replaceFile(path, text, { keepMode: true })
    return
  }
  const prepared = scratch.path('control')
  writeFileSync(prepared, text)
  say(`+ cp ${prepared} ${path}`)
}
