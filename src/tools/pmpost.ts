/**
 * pmpost: add a line to the file of notices, PCP_LOG_DIR/NOTICES. pmpost(1)
 *
 *     DATE: Fri Nov 20 11:12:00 2026
 *     11:12:00.122 start pmcd from /etc/init.d/pmcd
 *
 * Unlike the reference it takes PCP_LOG_DIR from the environment as well.
 */
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { loadConfig } from '../sys/config.ts'
import { postNotice } from './lib/notices.ts'
import type { Tool } from './lib/tool.ts'

/** Every argument is a part of the message, also those that look like options. */
export const tool: Tool = {
  name: 'pmpost',
  summary: 'Add a line to the notices of this host',
  description: `
Adds a line with the time of day to the file NOTICES in the directory of logs, and the date above it where that is another one.
Scripts that start and stop services note there what they did.`,
  examples: [['pmpost "moved the disks of db1"', 'A note for those who look at the values later:']],
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
