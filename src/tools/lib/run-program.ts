/** Runs a program in place of this process, as far as Node allows: with the same streams, and passing on signals. */

import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { onAbort } from '../../base/on-abort.ts'
import { PcpError } from '../../model/errors.ts'
import type { ToolIo } from './tool.ts'

/** Added to a signal's number for the exit status, as in shells. */
const SIGNALLED = 128
/** Runs programs without a `#!` line. */
const SHELL = '/bin/sh'

/** Runs it with the arguments and environment of `io`; resolves to its exit status. Rejects with an errno if it cannot be started. */
export async function runProgram(path: string, io: ToolIo): Promise<number> {
  await io.stdout.flush()
  try {
    return await ended(path, io.args, io)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOEXEC') throw PcpError.from(error, path)
    return ended(SHELL, [path, ...io.args], io)
  }
}

function ended(program: string, args: readonly string[], { env, signal }: ToolIo): Promise<number> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(program, [...args], { env: { ...env }, stdio: 'inherit' })
    const end = (): void => void child.kill('SIGTERM')
    const unlink = onAbort(signal, end)
    child.on('error', reject)
    child.on('exit', (status, name) => {
      unlink()
      resolve(name === null ? (status ?? 1) : SIGNALLED + constants.signals[name])
    })
  })
}
