/** pcp-ts agent: writes, checks, adds and removes agents of the user's own. docs/how-to/add-an-agent.md */
import { PcpError } from '../../../model/errors.ts'
import { parseOptions } from '../../lib/options.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool } from '../../lib/tool.ts'
import { OPTIONS, requestOf } from './request.ts'
import type { Verb } from './verbs.ts'

/** The verbs, loaded on demand: `check` and `add` load the collector. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  new: async () => (await import('./new.ts')).create,
  add: async () => (await import('./verbs.ts')).add,
  remove: async () => (await import('./verbs.ts')).remove,
  list: async () => (await import('./verbs.ts')).list,
  check: async () => (await import('./verbs.ts')).check,
}

/** Runs the verb named by the first operand. */
export const tool: Tool = {
  name: 'pcp-ts-agent',
  summary: 'Write, check, add and remove agents of your own',
  description: `
new NAME [DIR] writes a folder with a working agent, its test, a README and package.json. check FILE loads an agent in a process of its
own, asks it for everything once, and prints the values and what is wrong. add FILE adds it to the collector of pcp-ts start, running or
not, where it stays until remove NAME; the other agents and the clients are not disturbed. Adding it again loads the changed file. list shows all
agents with their state and last failure.

A daemon has its own process, a thread is part of the collector's process, and a dso shares the collector's thread: its endless loop stops the
collector, and its crash ends it. With --command an agent may be written in any language; its options follow --.`,
  examples: [
    ['pcp-ts agent new queue', 'Write an agent named queue in a folder of that name:'],
    ['pcp-ts agent check queue/agent.mjs', 'Fetch all its metrics once, without a collector:'],
    ['pcp-ts agent add queue/agent.mjs', 'Run it in the collector of pcp-ts start:'],
    ['pcp-ts agent add --command ./pmdaqueue -- -d 400', 'Add a program that speaks the protocol of agents:'],
  ],
  exitStatus: [[1, 'the agent has a problem (check), an own agent has failed (list), or an error']],
  seeAlso: ['pcp-ts-start', 'pmda-install', 'dbpmda'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const [verb = '', ...operands] = parsed.operands
    const request = requestOf({ ...parsed, operands })
    const load = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
    const isEarly = parsed.given.some(({ option }) => option.long === 'help' || option.long === 'version')
    if (load === undefined && !isEarly)
      parsed.problems.push(
        `${verb === '' ? 'a verb is required' : `unknown verb "${verb}"`}: ${Object.keys(VERBS).join(', ')}`,
      )
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const run = await load?.()
    if (run === undefined) throw new PcpError('PM_ERR_ARG', `unknown verb "${verb}"`)
    return run(request, io)
  },
}
