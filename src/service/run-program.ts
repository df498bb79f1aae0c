/** Runs a program of the system, such as systemctl. */

/** How a program ended. */
export interface ProgramResult {
  /** Exit status; undefined if there is no such program. */
  readonly status: number | undefined
  /** What it printed: standard output if it succeeded, both outputs otherwise. */
  readonly text: string
}

/** Runs a program with arguments; tests pass their own. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<ProgramResult>

/** Longest run: systemctl waits until a service has started. */
const LONGEST_MS = 180_000
const MAX_OUTPUT = 1 << 20

/** Returns a runner with an environment. */
export function programRunner(env: Readonly<Record<string, string | undefined>>): RunProgram {
  const { execFile } = process.getBuiltinModule('node:child_process')
  return (program, args) =>
    new Promise((resolve) => {
      const options = { env, timeout: LONGEST_MS, maxBuffer: MAX_OUTPUT, encoding: 'utf8' } as const
      execFile(program, [...args], options, (error, stdout, stderr) => {
        if (error === null) resolve({ status: 0, text: stdout })
        else if (error.code === 'ENOENT') resolve({ status: undefined, text: '' })
        else
          resolve({
            status: typeof error.code === 'number' ? error.code : 1,
            text: `${stdout}${stderr}` || error.message,
          })
      })
    })
}
