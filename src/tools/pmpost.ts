/**
 * pmpost: adds a line to the notices file, PCP_LOG_DIR/NOTICES. pmpost(1)
 *
 *     DATE: Fri Nov 20 11:12:00 2026
 *     11:12:00.122 start pmcd from /etc/init.d/pmcd
 *
 * Unlike the reference, it also reads PCP_LOG_DIR from the environment.
 */
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { loadConfig } from '../sys/config.ts'
import { postNotice } from './lib/notices.ts'
import type { Tool } from './lib/tool.ts'

/** Every argument is part of the message, even if it looks like an option. */
export const tool: Tool = {
  name: 'pmpost',
  summary: 'Add a line to the notices of this host',
  description: `
Adds a line with the time of day to the file NOTICES in the log directory, preceded by the date if it has changed. Scripts that start
and stop services use it as a log.`,
  examples: [['pmpost "moved the disks of db1"', 'Leave a note for later analysis:']],
  async run({ args, env, now, progname, stderr }) {
    if (args.length === 0 || args[0] === '-?') {
      stderr.write(`Usage: ${progname} message\n`)
      return 1
    }
    const path = join(loadConfig(env).variables['PCP_LOG_DIR']!, 'NOTICES')
    try {
      postNotice(path, args.join(' '), now())
      return 0
    } catch (error) {
      stderr.write(`${PcpError.from(error, `${progname}: cannot post to ${path}`).message}\n`)
      return 1
    }
  },
}
