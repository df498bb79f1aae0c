/** Runs the commands in preprocessed files: %shell and #shell. pmcpp(1) */
import { constants } from 'node:os'
import { decodeText } from '../base/text.ts'
import type { Variables } from './config.ts'

/** How to run a command. */
export interface ShellOptions {
  readonly cwd: string
  readonly env: Variables
  /** Name of the directive in messages: `%shell`. */
  readonly directive: string
  /** Called with the command's standard error, and with its exit status if it failed. */
  readonly warn: (text: string) => void
}

/** Returns the output of a command. Its failure is a warning, not an error. Throws Node's error if it cannot be run. */
export function runShell(command: string, { cwd, env, directive, warn }: ShellOptions): string {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { stdout, stderr, status, signal, error } = spawnSync('/bin/sh', ['-c', command], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 30,
  })
  if (error !== undefined) throw error
  if (stderr.length > 0) warn(decodeText(stderr))
  if (signal !== null) warn(`Warning: ${directive} cmd terminated by signal ${constants.signals[signal]}\n`)
  else if (status !== 0) warn(`Warning: ${directive} cmd returns ${status} exit status\n`)
  return decodeText(stdout)
}
