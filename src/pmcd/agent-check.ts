/** Program that loads an agent apart from a collector, examines it, and writes the result as JSON. Started by check-agent.ts. */
import { writeSync } from 'node:fs'
import { PcpError } from '../model/errors.ts'
import { openAgent } from '../pmda/open-agent.ts'
import type { AgentLocation } from './agent-module.ts'
import { loadAgent } from './agent-module.ts'
import type { CheckedModule, CheckSetup } from './check-agent.ts'
import { examineAgent } from './examine-agent.ts'

/** Where the result goes; what the agent prints goes to standard output. */
const RESULT_FD = 3

async function run({ place, domain, variables, isBrief }: CheckSetup): Promise<CheckedModule> {
  const definition = await loadAgent(place satisfies AgentLocation)
  const { name } = definition
  const logged: string[] = []
  const source = openAgent(definition, {
    domain: domain ?? definition.domain,
    env: variables,
    log: (level, text) => logged.push(`${level}: ${text}`),
  })
  try {
    const names = [...source.names()]
    const stated = definition.isDomainFree === true ? {} : { domain: definition.domain }
    const examined = isBrief
      ? { metrics: [], problems: names.length === 0 ? ['it has no metrics'] : [] }
      : await examineAgent(source, names)
    return { name, ...stated, names: names.map(([each]) => each), ...examined, logged }
  } finally {
    await source.close()
  }
}

void run(JSON.parse(process.argv[2]!) as CheckSetup).then(
  (result) => end(result, 0),
  (error: unknown) => {
    const { code, message } = PcpError.from(error)
    end({ code, message }, 1)
  },
)

function end(result: unknown, status: number): never {
  const bytes = Buffer.from(JSON.stringify(result))
  for (let done = 0; done < bytes.length; ) done += writeSync(RESULT_FD, bytes, done)
  // The agent's timers and sockets would keep this process alive.
  process.exit(status)
}
