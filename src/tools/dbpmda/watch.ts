/** Opens a window that follows a file. */

/** Opens a terminal (xterm) that shows a file as it grows and outlives this process. Calls `complain` on failure. */
export async function watchFile(file: string, complain: (text: string) => Promise<void>): Promise<void> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn('xterm', ['-title', file, '-e', 'tail', '-f', file], {
    stdio: 'ignore',
    detached: true,
  })
  const problem = await new Promise<Error | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined))
    child.once('error', resolve)
  })
  if (problem === undefined) child.unref()
  else await complain(`Error: watch needs xterm, which cannot be started: ${problem.message}`)
}
