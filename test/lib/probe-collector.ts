/** Program that makes all requests to collectors and prints the outcomes as JSON. Arguments: hosts. */

import { PcpError } from '../../src/model/errors.ts'
import { LABEL_ITEM } from '../../src/model/labels.ts'
import { connect } from '../../src/pmapi/connect.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { HOSTILE_METRIC } from './hostile-collector.ts'

const metric = 0x07400001
const questions: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
  names: (context) => context.traverse('hostile'),
  children: (context) => context.children('hostile'),
  lookup: (context) => context.lookupName(HOSTILE_METRIC),
  desc: (context) => context.desc(metric),
  instances: (context) => context.instances(metric),
  text: (context) => context.text(metric),
  labels: (context) => context.labels(LABEL_ITEM, metric),
  fetch: (context) => context.fetch([metric]),
}

/** Uses a new connection per request, so that one that ended does not affect the others. */
async function outcomeOf(host: string, question: (context: Context) => Promise<unknown>): Promise<string> {
  try {
    const context = await connect(host)
    try {
      await question(context)
      return 'ok'
    } finally {
      await context.close()
    }
  } catch (error) {
    const { code, message } = PcpError.from(error)
    return `${code} ${message}`
  }
}

const all: Record<string, Record<string, string>> = {}
for (const host of process.argv.slice(2)) {
  const outcomes: Record<string, string> = {}
  for (const [what, question] of Object.entries(questions)) outcomes[what] = await outcomeOf(host, question)
  all[host] = outcomes
}
process.stdout.write(JSON.stringify(all))
