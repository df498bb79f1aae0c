/** Reports over archives run without promises: what lets everything else have its turn. */
import type { ToolIo } from './tool.ts'

/**
 * Between stretches of lines: lets the reader take what was written, and signals come. Without it a report over months of archives
 * could not be interrupted. Look at `io.signal` afterwards.
 */
export async function breathe({ stdout }: Pick<ToolIo, 'stdout'>): Promise<void> {
  await stdout.flush()
  await new Promise((resolve) => setImmediate(resolve))
}
