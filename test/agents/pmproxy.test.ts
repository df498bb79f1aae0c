/** The pmproxy agent: what mmv does, in another directory and under other names. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agent as definition } from '../../src/agents/pmproxy/index.ts'
import { MmvWriter } from '../../src/mmv/index.ts'
import { pmidStr } from '../../src/model/ids.ts'
import { PM_TYPE_U64 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { ASK } from '../lib/agent-catalogue.ts'

test('reads the files of its directory, not those of mmv', async () => {
  const root = mkdtempSync(join(tmpdir(), 'pmproxy-'))
  for (const name of ['pmproxy', 'mmv']) {
    mkdirSync(join(root, name))
    const writer = new MmvWriter('server', { directory: join(root, name), load: () => undefined, keep: true })
    writer.counter(`${name}_requests`, { type: 'u64' }).add(7)
    writer.publish()
    writer.close()
  }
  const agent = openAgent(definition, { env: { PCP_TMP_DIR: root } })
  const names = await agent.traverse('pmproxy', ASK)
  expect([...names].sort()).toEqual([
    'pmproxy.control.debug',
    'pmproxy.control.files',
    'pmproxy.control.reload',
    'pmproxy.server.pmproxy_requests',
  ])
  const ids = (await agent.lookupNames(
    ['pmproxy.control.files', 'pmproxy.server.pmproxy_requests'],
    ASK,
  )) as number[]
  expect(ids.map((id) => pmidStr(id).split('.')[0])).toEqual(['4', '4'])
  const { sets } = await agent.fetch(ids, ASK)
  expect(valuesOf(sets[1]!, PM_TYPE_U64).map(({ value }) => value)).toEqual([7])
  expect(sets[0]!.word[0]).toBe(1)
  await agent.close()
  rmSync(root, { recursive: true })
})
