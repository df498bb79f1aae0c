/** The state of one run of pmlogctl or pmiectl: options, messages and temporary files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Variables } from '../../../sys/config.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { replaceFile } from '../../../sys/replace-file.ts'
import type { ToolIo } from '../tool.ts'
import type { FarmContext } from './farm-files.ts'

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

/** Everything an action needs. */
export interface FarmRun extends FarmContext, FarmOptions {
  readonly io: ToolIo
  readonly say: (text: string) => void
  /** Prints text if -V was given at least `level` times. */
  readonly verbose: (level: 1 | 2, text: string) => void
  readonly error: (text: string) => void
  /** Prints lines on standard error without a prefix. */
  readonly errorLines: (text: string) => void
  readonly scratch: TempDir
}

/** Begins a run. */
export function beginRun(place: Omit<FarmContext, 'warn'>, options: FarmOptions, io: ToolIo): FarmRun {
  const { kind, variables } = place
  // Flush standard output first, as both may go to the same file.
  const complain = (text: string): void => {
    void io.stdout.flush()
    io.stderr.write(`${text.trimEnd()}\n`)
  }
  return {
    ...place,
    ...options,
    io,
    say: (text) => io.stdout.write(`${text}\n`),
    verbose: (level, text) => {
      if (options.verbosity >= level) io.stdout.write(`${text}\n`)
    },
    warn: (text) => complain(`Warning: ${text}`),
    error: (text) => complain(`Error: ${text}`),
    errorLines: complain,
    scratch: openScratch(kind.command, variables),
  }
}

/** A temporary directory, made when first used. */
export interface TempDir {
  path(name: string): string
  close(): void
}

function openScratch(command: string, variables: Variables): TempDir {
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

/** Installs a control file, or shows the command with -N. Throws Node's error. */
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
