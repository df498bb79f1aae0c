/** The files of a new agent: a whole, working one, whose author changes what is counted. docs/agents.md */
import { VERSION } from '../../base/version.ts'

/** What the files are made for. */
export interface NewAgent {
  /** Lower case letters, digits and underscores. */
  readonly name: string
  readonly domain: number
}

/** A file, by its path in the agent's folder. */
export type NewFile = readonly [path: string, text: string]

/** Every file of a new agent. */
export function newAgentFiles(agent: NewAgent): readonly NewFile[] {
  return [
    ['package.json', packageText(agent)],
    ['agent.mjs', agentText(agent)],
    [`pmda${agent.name}.mjs`, daemonText(agent)],
    ['agent.test.mjs', testText(agent)],
    [`pmlogconf/${agent.name}`, pmlogconfText(agent)],
    ['README.md', readmeText(agent)],
  ]
}

function packageText({ name }: NewAgent): string {
  const manifest = {
    name: `pmda-${name.replaceAll('_', '-')}`,
    version: '0.0.1',
    private: true,
    type: 'module',
    scripts: { test: 'node --test' },
    dependencies: { 'pcp-ts': `^${VERSION}` },
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function agentText({ name, domain }: NewAgent): string {
  return `/** The agent "${name}": what it measures, and how. */
import { defineAgent, PcpError, PM_IN_NULL } from 'pcp-ts/pmda'

/** Instances: names and the numbers that stand for them. A number once given belongs to that name for good. */
const lanes = {
  serial: 0,
  instances: { left: 0, middle: 1, right: 2 },
  help: 'Lanes',
  text: 'One instance for each lane. Change this to the things that your values are of: disks, queues, users.',
}

/** Called each time that a collector, or a test, opens the agent: what it remembers belongs in here. */
function open() {
  let requests = 0
  const limits = new Map([[0, 10], [1, 20], [2, 30]])
  return {
    labels: { role: 'example' },
    metrics: {
      // A counter only grows; tools show its rate.
      '${name}.requests': {
        item: 0,
        type: 'u64',
        sem: 'counter',
        units: 'count',
        help: 'Questions for values that were answered',
        text: 'Grows by one with each fetch that asks for it, so that there is something to see.',
        begin: () => {
          requests++
        },
        value: () => requests,
      },
      // A value of now; undefined means that there is none, a thrown PcpError says why.
      '${name}.uptime': {
        item: 1,
        type: 'double',
        sem: 'instant',
        units: 'sec',
        help: 'Time since the process of the agent began',
        value: () => process.uptime(),
      },
      // One value an instance, which may be stored into.
      '${name}.limit': {
        item: 2,
        type: 'u32',
        sem: 'discrete',
        units: 'count',
        indom: lanes,
        help: 'How much each lane may take',
        text: 'From 0 to 100; pmstore changes it until the agent ends.',
        value: (inst) => limits.get(inst),
        store: (value, inst) => {
          const limit = Number(value)
          if (inst === PM_IN_NULL || limit > 100) throw new PcpError('PM_ERR_BADSTORE')
          limits.set(inst, limit)
        },
      },
    },
  }
}

export const agent = defineAgent({ name: '${name}', domain: ${domain}, open })
`
}

function daemonText({ name }: NewAgent): string {
  return `#!/usr/bin/env node
/** The agent "${name}" as a process of its own, which a collector starts. */
import { runDaemon } from 'pcp-ts/pmda'
import { agent } from './agent.mjs'

await runDaemon(agent)
`
}

function testText({ name }: NewAgent): string {
  return `/** Asks the agent as a collector does, without one. Run it with: node --test */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAgent } from 'pcp-ts/pmda'
import { agent } from './agent.mjs'

/** Whoever asks: everything is wanted. */
const ask = { requester: { client: 0, context: 0, profile: { includeByDefault: true, entries: new Map() } } }

async function fetchOne(source, name) {
  const id = new Map(source.names()).get(name)
  const { sets } = await source.fetch([id], ask)
  return sets[0]
}

test('every metric has a value and a text', async () => {
  const source = openAgent(agent)
  for (const [name, id] of source.names()) {
    const set = await fetchOne(source, name)
    assert.ok(set.status > 0, \`\${name}: status \${set.status}\`)
    assert.ok((await source.text({ kind: 'metric', id, level: 'help' }, ask)).length > 20, name)
  }
  await source.close()
})

test('requests are counted', async () => {
  const source = openAgent(agent)
  const before = await fetchOne(source, '${name}.requests')
  const after = await fetchOne(source, '${name}.requests')
  assert.notDeepEqual(after, before)
  await source.close()
})

test('a limit of each lane', async () => {
  const source = openAgent(agent)
  const { status, inst, word } = await fetchOne(source, '${name}.limit')
  assert.equal(status, 3)
  assert.deepEqual([...inst], [0, 1, 2])
  assert.deepEqual([...word], [10, 20, 30])
  await source.close()
})
`
}

function pmlogconfText({ name }: NewAgent): string {
  return `#pmlogconf-setup 2.0
ident	values of the agent ${name}
probe	${name}.requests exists ? include : exclude

	${name}
`
}

function readmeText({ name, domain }: NewAgent): string {
  return `# The agent ${name}

| File | What it is |
|---|---|
| agent.mjs | the metrics: one row each. Start here |
| pmda${name}.mjs | runs the agent as a process; nothing to change |
| agent.test.mjs | asks the agent as a collector does: \`node --test\` |
| pmlogconf/${name} | what a recorder keeps of it |
| pmieconf/, views/ | rules and views, when you have some: they are installed with the agent |

Its domain is ${domain}: no other agent of a site may have that number.

## To fill in

1. In agent.mjs, replace the three metrics by yours. Say in \`help\` what is counted and in \`text\` where it comes from.
2. An \`item\` once used stays with its metric, and an instance's number with its name: archives refer to them.
3. Values that cost time to get belong in a \`Reading\`, which is done once a fetch whoever asks.
4. Write a test for each metric.

## To try

    node --test
    echo 'open dso agent.mjs agent
    fetch ${name}.requests ${name}.limit' | dbpmda -ief

## To install

    pmda-install ./agent.mjs              a process of its own; any collector
    pmda-install -s worker ./agent.mjs    in a thread of our collector
    pminfo -dfmtT ${name}
    pmda-remove ${name}
`
}
