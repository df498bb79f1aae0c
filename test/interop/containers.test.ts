/** Compares the root agent over the container files of PCP's own tests with the output recorded there. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { agent } from '../../src/agents/root/index.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { allAnswers } from '../lib/agent-answers.ts'

const SUITE = '/var/lib/pcp/testsuite'
const isThere = existsSync(`${SUITE}/761.out`)
if (!isThere) console.log(`not compared: there is no ${SUITE}`)

const scratch = mkdtempSync(join(tmpdir(), 'pcp-ts-containers-'))
afterAll(() => rmSync(scratch, { recursive: true }))

/** Returns the recorded values by tree, metric and instance. */
function recorded(): Map<string, Map<string, Map<string, string | number>>> {
  const trees = new Map<string, Map<string, Map<string, string | number>>>()
  let tree: Map<string, Map<string, string | number>> | undefined
  let metric: Map<string, string | number> | undefined
  for (const line of readFileSync(`${SUITE}/761.out`, 'utf8').split('\n')) {
    const [, name] = /^== Checking values for active containers in (\S+)$/.exec(line) ?? []
    if (name !== undefined) {
      tree = new Map()
      trees.set(name, tree)
    } else if (line.startsWith('containers.') && tree !== undefined) {
      metric = new Map()
      tree.set(line, metric)
    } else {
      const [, instance, value] = /inst \[N or "(.*)"\] value (.*)$/.exec(line) ?? []
      if (instance !== undefined) metric!.set(instance, JSON.parse(value!) as string | number)
    }
  }
  return trees
}

test.skipIf(!isThere)('returns the same values as PCP', async () => {
  const info = join(scratch, 'lxc-info')
  writeFileSync(info, '#!/bin/sh\necho "State: RUNNING"\necho "PID: 17297"\n')
  chmodSync(info, 0o755)
  let values = 0
  for (const [archive, expected] of recorded()) {
    const root = mkdtempSync(join(scratch, 'tree-'))
    execFileSync('tar', ['xzf', join(SUITE, 'linux', archive), '-C', root])
    const env = { PCP_SYSTEMD_CGROUP: '/system.slice', PCP_LXC_INFO: info }
    const source = openAgent(agent, { root, env })
    const answers = await allAnswers(source, [...expected.keys()])
    for (const [name, instances] of expected) {
      const given = Object.entries((answers[name] ?? {}) as { [instance: string]: string | number })
      const byName = new Map(given.map(([instance, value]) => [instance.replace(/^\d+ /, ''), value]))
      expect(byName, `${archive} ${name}`).toEqual(instances)
      values += instances.size
    }
    await source.close()
  }
  console.log(`${values} values of ${readdirSync(scratch).length - 1} trees of containers are PCP's`)
})
