/** Runs commands as separate processes and measures their memory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Result of a command. */
export interface ToolRun {
  /** Undefined if killed by a signal. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
  /** Peak resident memory in bytes (VmHWM, RSS). Undefined if killed by a signal. */
  readonly peakBytes: number | undefined
}

/** Options of a run. */
export interface ToolOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Ends it with SIGTERM when true for its output so far. */
  readonly until?: (output: string) => boolean
}

const HOOK = `
process.on('exit', () => {
  const status = require('node:fs').readFileSync('/proc/self/status', 'utf8')
  require('node:fs').writeFileSync(process.env.PCP_TEST_PEAK, /^VmHWM:\\s+(\\d+)/m.exec(status)[1])
})
`

/** Runs a Node program until it ends. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, until }: ToolOptions = {},
): Promise<ToolRun> {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-tool-'))
  const peak = join(dir, 'peak')
  const hook = join(dir, 'hook.cjs')
  writeFileSync(hook, HOOK)
  try {
    const child = spawn(process.execPath, ['--require', hook, program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PCP_TEST_PEAK: peak, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    })
    let stdout = ''
    let stderr = ''
    let isTold = false
    const look = (): void => {
      if (isTold || until?.(stdout + stderr) !== true) return
      isTold = true
      child.kill('SIGTERM')
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      look()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      look()
    })
    const [status] = (await once(child, 'close')) as [number | null]
    return {
      status: status ?? undefined,
      stdout,
      stderr,
      peakBytes: existsSync(peak) ? Number(readFileSync(peak, 'utf8')) * 1024 : undefined,
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
