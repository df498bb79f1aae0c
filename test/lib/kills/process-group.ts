/** Runs a command and its children as one process group. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Options of `ProcessGroup`. */
export interface GroupOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** File that output is appended to. */
  readonly log: string
}

const POLL_MS = 5

/** A running command and its children. */
export class ProcessGroup {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  constructor(program: string, args: readonly string[], { cwd, env, log }: GroupOptions) {
    const fd = openSync(log, 'a')
    try {
      this.#child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', fd, fd] })
      this.#exited = once(this.#child, 'exit')
    } finally {
      closeSync(fd)
    }
  }

  /** Whether the command itself has ended; its children may not have. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Whether the command was killed before it had ended. */
  get wasKilled(): boolean {
    return this.#child.signalCode === 'SIGKILL'
  }

  /** Resolves when the command itself has ended. */
  async exited(): Promise<void> {
    await this.#exited
  }

  /** Sends SIGKILL to the command, or to all processes of its group. */
  kill(target: 'parent' | 'group'): void {
    const pid = this.#child.pid
    if (pid === undefined || this.hasExited) return
    process.kill(target === 'parent' ? pid : -pid, 'SIGKILL')
  }

  /** Resolves when no process of the group is left; polls, because orphans send this process no event. */
  async ended(): Promise<void> {
    await this.#exited
    while (isGroupAlive(this.#child.pid!)) await pause(POLL_MS)
  }
}

function isGroupAlive(group: number): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false
    let stat: string
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    } catch {
      return false // it has just ended
    }
    // The command in parentheses may contain any character; state, parent and group follow it. Zombies wait to be reaped.
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(pgrp) === group && state !== 'Z' && state !== 'X'
  })
}
