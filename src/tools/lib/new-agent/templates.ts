/** Files of a new, working agent, whose metrics the author then replaces. docs/reference/agent-toolkit.md */
import { VERSION } from '../../../base/version.ts'

/** Name and domain of a new agent. */
export interface NewAgent {
  /** Lower case letters, digits and underscores. */
  readonly name: string
  /** Undefined for an agent whose collector chooses it. */
  readonly domain: number | undefined
  /** Where it will run: in an installed PCP, by pmda-install, or in pcp-ts start, by pcp-ts agent add. */
  readonly host: 'pcp' | 'pcp-ts'
  readonly isTypeScript: boolean
}

/** A file with its path in the agent's folder. */
export type NewFile = readonly [path: string, text: string]

/** Returns every file of a new agent. */
export function newAgentFiles(agent: NewAgent): readonly NewFile[] {
  const { name, host, isTypeScript } = agent
  const ending = endingOf(agent)
  // pcp-ts runs the module itself.
  const forPcp: readonly NewFile[] =
    host === 'pcp'
      ? [
          [`pmda${name}.mjs`, daemonText(agent)],
          [`pmlogconf/${name}`, pmlogconfText(agent)],
        ]
      : []
  return [
    ['package.json', packageText(agent)],
    [`agent.${ending}`, agentText(agent)],
    [`agent.test.${ending}`, testText(agent)],
    ...(isTypeScript ? [['tsconfig.json', TSCONFIG] as const] : []),
    ...forPcp,
    ['README.md', host === 'pcp' ? readmeText(agent) : ownReadmeText(agent)],
  ]
}

function endingOf({ isTypeScript }: NewAgent): 'ts' | 'mjs' {
  return isTypeScript ? 'ts' : 'mjs'
}

/** Strips to JavaScript as Node does, so that one source runs with and without a compiler. */
const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "strict": true,
    "erasableSyntaxOnly": true,
    "rewriteRelativeImportExtensions": true,
    "types": ["node"],
    "skipLibCheck": true,
    "outDir": "dist"
  },
  "include": ["*.ts"]
}
`

function packageText({ name, isTypeScript }: NewAgent): string {
  const manifest = {
    name: `pmda-${name.replaceAll('_', '-')}`,
    version: '0.0.1',
    private: true,
    type: 'module',
    scripts: { test: 'node --test', ...(isTypeScript ? { build: 'tsc' } : {}) },
    dependencies: { 'pcp-ts': `^${VERSION}` },
    ...(isTypeScript ? { devDependencies: { '@types/node': '^20.19.0', typescript: '>=5.8' } } : {}),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function agentText({ name, domain, isTypeScript }: NewAgent): string {
  const types = isTypeScript ? 'type AgentTables, ' : ''
  const indomType = isTypeScript ? 'type IndomSpec, ' : ''
  const stated = domain === undefined ? '' : ` domain: ${domain},`
  return `/** The agent "${name}": what it measures, and how. */
import { ${types}defineAgent, ${indomType}PcpError, PM_IN_NULL } from 'pcp-ts/pmda'

/** Instance names with their numbers. Never reuse a number for another name. */
const lanes${isTypeScript ? ': IndomSpec' : ''} = {
  serial: 0,
  instances: { left: 0, middle: 1, right: 2 },
  help: 'Lanes',
  text: 'One instance for each lane. Change this to what your values belong to: disks, queues, users.',
}

/** Called each time a collector or a test opens the agent. Keep its state in here. */
function open()${isTypeScript ? ': AgentTables' : ''} {
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
        help: 'Requests for values',
        text: 'Grows by one with each fetch of this metric.',
        begin: () => {
          requests++
        },
        value: () => requests,
      },
      // The current value. Return undefined for no value, or throw a PcpError.
      '${name}.uptime': {
        item: 1,
        type: 'double',
        sem: 'instant',
        units: 'sec',
        help: 'Time since the agent process started',
        value: () => process.uptime(),
      },
      // One value per instance, which clients may change.
      '${name}.limit': {
        item: 2,
        type: 'u32',
        sem: 'discrete',
        units: 'count',
        indom: lanes,
        help: 'Limit of each lane',
        text: 'From 0 to 100; pmstore changes it until the agent exits.',
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

export const agent = defineAgent({ name: '${name}',${stated} open })
`
}

function daemonText({ name }: NewAgent): string {
  return `#!/usr/bin/env node
/** The agent "${name}" as a separate process started by a collector. */
import { runDaemon } from 'pcp-ts/pmda'
import { agent } from './agent.mjs'

await runDaemon(agent)
`
}

function testText(agent: NewAgent): string {
  const { name, isTypeScript } = agent
  const types = isTypeScript ? 'type AgentSource, ' : ''
  const parameters = isTypeScript ? 'source: AgentSource, name: string' : 'source, name'
  const sure = isTypeScript ? '!' : ''
  return `/** Asks the agent as a collector does, without one. Run it with: node --test */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ${types}openAgent } from 'pcp-ts/pmda'
import { agent } from './agent.${endingOf(agent)}'

/** Arguments of a request for all instances. */
const ask = { requester: { client: 0, context: 0, profile: { includeByDefault: true, entries: new Map() } } }

async function fetchOne(${parameters}) {
  const id = new Map(source.names()).get(name)${sure}
  const { sets } = await source.fetch([id], ask)
  return sets[0]${sure}
}

test('every metric has a value and a text', async () => {
  const source = openAgent(agent)
  for (const [name, id] of source.names()) {
    const set = await fetchOne(source, name)
    assert.ok(set.status > 0, \`\${name}: status \${set.status}\`)
    assert.ok((await source.text({ kind: 'metric', id, level: 'help'${isTypeScript ? ' as const' : ''} }, ask)).length > 20, name)
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

/** README of an agent for pcp-ts start. */
function ownReadmeText(agent: NewAgent): string {
  const { name, isTypeScript } = agent
  const file = `agent.${endingOf(agent)}`
  const typescript = isTypeScript
    ? `
## TypeScript

Node 22.18 and newer run ${file} as it is. For older ones compile it, and add the result:

    npm install
    npm run build
    pcp-ts agent add dist/agent.js
`
    : ''
  return `# The agent ${name}

| File | What it is |
|---|---|
| ${file} | the metrics: one row each. Start here |
| agent.test.${endingOf(agent)} | asks the agent as a collector does |
| package.json | its dependency on pcp-ts. node_modules links to the installed one, so that npm install is not needed |

## To try

    node --test
    pcp-ts agent check ${file}            all values, and what is wrong

## To run

    pcp-ts start                           in another terminal, if it does not run yet
    pcp-ts agent add ${file}              again after each change
    pcp-ts pminfo -dfmtT ${name}
    pcp-ts agent list
    pcp-ts agent remove ${name}

It stays when pcp-ts start ends and is started again. It runs in a process of its own; \`--kind thread\` needs less memory. The
collector chooses the domain, the number of its metrics, and keeps it; to choose it yourself, write \`domain: 487\` beside the name.
${typescript}
## To fill in

1. In ${file}, replace the three metrics by yours. Say in \`help\` what is counted and in \`text\` where it comes from.
2. An \`item\` once used stays with its metric, and an instance's number with its name: archives refer to them.
3. Values that cost time to get belong in a \`Reading\`, which is done once a fetch.
4. Write a test for each metric.
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
