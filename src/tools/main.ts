/** Entry point of every command. */

import { basename } from 'node:path'
import { every } from '../base/every.ts'
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import { hasParentEnded, isForParent } from '../sys/parent-process.ts'
import { interruption } from './lib/interrupt.ts'
import { FdOutput } from './lib/output.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

/** A shell's status of a command that wrote to a closed pipe. */
const STATUS_BROKEN_PIPE = 141
const PARENT_CHECK_MS = 500

/**
 * Runs a command with this process's arguments and exits with its status. An aborted command dies by the signal, as its
 * parent expects; one that resolves after a signal exits normally.
 */
export async function main(tool: Tool): Promise<void> {
  const [, program = 'pcp', ...args] = process.argv
  const progname = basename(program)
  const stderr = new FdOutput(2, () => {}, true)
  // Created on demand: creating it costs a command on archives a millisecond.
  let interrupt: AbortController | undefined
  const controller = (): AbortController => {
    interrupt ??= new AbortController()
    return interrupt
  }
  let signalled: NodeJS.Signals | undefined
  const end = (by: NodeJS.Signals): void => {
    signalled = by
    stdout.abandonReader()
    stderr.abandonReader()
    controller().abort(interruption(by))
  }
  if (tool.shutsDownOnSignal === true) {
    // A service manager may send SIGTERM twice, which must not cut a daemon's shutdown short; a second Ctrl-C does.
    process.once('SIGINT', end)
    process.on('SIGTERM', end)
  }
  if (isForParent()) {
    // Work for a killed command must not continue alongside its next run.
    const look = (): void => {
      if (hasParentEnded()) process.kill(process.pid, 'SIGTERM')
    }
    every(PARENT_CHECK_MS, look, (error) => stderr.write(`${progname}: ${String(error)}\n`)).unref()
  }
  const stdout = new FdOutput(1, () => process.exit(STATUS_BROKEN_PIPE))
  const io: ToolIo = {
    progname,
    args,
    env: process.env,
    cwd: process.cwd(),
    // process.stdin is created on first use, which takes time even if it is not read.
    stdin: { [Symbol.asyncIterator]: () => stdinUntil(controller().signal) },
    stdout,
    stderr,
    now: Date.now,
    get signal() {
      return controller().signal
    },
    commands: async () => (await import('./registry.ts')).TOOLS,
  }
  let status: number
  try {
    status = await tool.run(io)
    await stdout.flush()
  } catch (error) {
    status = 1
    await stdout.flush()
    if (signalled !== undefined) {
      process.removeAllListeners(signalled)
      process.kill(process.pid, signalled)
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    stderr.write(`${io.progname}: ${describe(error, io)}\n`)
  }
  await stderr.flush()
  process.exit(status)
}

/** Reads standard input; rejects with the signal's reason when aborted. */
function stdinUntil(signal: AbortSignal): AsyncIterator<Uint8Array> {
  const { stdin } = process
  onAbort(signal, () => stdin.destroy(signal.reason as Error))
  return stdin[Symbol.asyncIterator]()
}

/** Returns an error's message, with the stack for a bug or if debugging is on. */
function describe(error: unknown, io: ToolIo): string {
  if (!(error instanceof Error)) return String(error)
  const debugging = io.env['PCP_DEBUG'] !== undefined || io.args.some((arg) => /^-(-debug|D)/.test(arg))
  const isMistake = !(error instanceof PcpError) && (error as { code?: unknown }).code === undefined
  if (!debugging && !isMistake) return PcpError.from(error).message
  const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return [error.message, ...places].join('\n')
}
