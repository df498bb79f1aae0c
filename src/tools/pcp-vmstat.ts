/** pcp vmstat: pmstat with the columns and operands of vmstat(8). pcp-vmstat(1) */
import { PcpError } from '../model/errors.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import type { Tool } from './lib/tool.ts'

const PMSTAT = 'pmstat'

const OPTIONS: OptionTable = {
  synopsis: '[delta [samples]]',
  operands: 'none',
  rows: [{ heading: 'Options' }, VERSION_ROW, HELP_ROW],
}

/** Runs pmstat in this process. */
export const tool: Tool = {
  name: 'pcp-vmstat',
  summary: 'Show load, memory, swapping, disks and processors, a line for each sample',
  description: `
This is pmstat -x, with the interval and the number of samples as operands. Source, time window and zone are options of pcp.`,
  examples: [['pcp -h db1 vmstat 5 12', 'A minute of a host:']],
  seeAlso: ['pcp', PMSTAT],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [delta, samples, ...others] = parsed.operands
    if (others.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const args = ['-x']
    if (delta !== undefined) args.push('-t', delta)
    if (samples !== undefined) args.push('-s', samples)
    const pmstat = (await io.commands?.())?.find(({ name }) => name === PMSTAT)
    if (pmstat === undefined) throw new PcpError('ENOENT', `Cannot find ${PMSTAT}`)
    return (await pmstat.load()).run({ ...io, progname: PMSTAT, args })
  },
}
