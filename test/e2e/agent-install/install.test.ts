/** Installing and removing agents in a private tree: files put in place, and rollback after any failure. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pmid } from '../../../src/model/ids.ts'
import { startCollector } from '../../../src/pmcd/collector.ts'
import { builtinAgents } from '../../../src/pmcd/open-agents.ts'
import { type AgentPackage, resolveAgent } from '../../../src/tools/lib/agent-install/agent-package.ts'
import {
  type CollectorControl,
  type MetricCounts,
  runningCollector,
} from '../../../src/tools/lib/agent-install/collector.ts'
import { changeConf } from '../../../src/tools/lib/agent-install/conf-text.ts'
import {
  type InstallSettings,
  installAgent,
  removeAgent,
} from '../../../src/tools/lib/agent-install/install.ts'

let dir: string
let said: string
let warned: string[]
let noticed: string[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'agent-install-'))
  for (const each of [
    'pmns',
    'pmdas',
    'etc',
    'config/pmchart',
    'extras/pmlogconf',
    'extras/pmieconf',
    'extras/views',
  ])
    mkdirSync(join(dir, each), { recursive: true })
  write('pmns/root', 'root {\n\tkernel\t60:0:1\n\tqueue\n}\nqueue {\n\told\t400:0:9\n\tdepth\t300:0:1\n}\n')
  write(
    'etc/pmcd.conf',
    '# agents\nlinux 60 dso linux_init /x/pmda_linux.so\n\nqueue 300 pipe binary /x/queue\nother 400 pipe binary /x/other\n[access]\nallow "*": all;\n',
  )
  write('extras/pmlogconf/depth', '#pmlogconf-setup 2.0\n')
  write('extras/pmieconf/full', '# rule\n')
  write('extras/views/Queue', '#kmchart\n')
  said = ''
  warned = []
  noticed = []
})
afterEach(() => rmSync(dir, { recursive: true }))

const write = (name: string, text: string): void => writeFileSync(join(dir, name), text)
const read = (name: string): string => readFileSync(join(dir, name), 'utf8')

/** Lists every file of the tree with mode and content. */
function snapshot(at = dir): string[] {
  return readdirSync(at, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(at, entry.name)
      const { mode } = lstatSync(path)
      return entry.isDirectory()
        ? [`${path} ${mode.toString(8)}`, ...snapshot(path)]
        : [`${path} ${mode.toString(8)} ${readFileSync(path, 'latin1')}`]
    })
    .sort()
}

const SUBJECT = (): AgentPackage => ({
  name: 'queue',
  domain: 400,
  names: [
    ['queue.depth', pmid(400, 0, 0)],
    ['queue.jobs.done', pmid(400, 0, 1)],
  ],
  help: [{ kind: 'metric', id: pmid(400, 0, 0), name: 'queue.depth', oneline: 'Jobs waiting', help: '' }],
  extrasDir: join(dir, 'extras'),
  rest: 'pipe\tbinary\tnode /here/pmdaqueue.mjs -d 400',
})

const FOUND: MetricCounts = { metrics: 2, values: 3, warnings: 1, unknown: 0 }

function settings(
  over: Partial<InstallSettings> & { control?: Partial<CollectorControl> } = {},
): InstallSettings {
  const { control, ...rest } = over
  return {
    variables: {
      PCP_VAR_DIR: dir,
      PCP_PMDAS_DIR: join(dir, 'pmdas'),
      PCP_PMCDCONF_PATH: join(dir, 'etc/pmcd.conf'),
    },
    collector: {
      reload: async () => true,
      listeningSocket: async () => undefined,
      find: async () => FOUND,
      ...control,
    },
    checks: true,
    progress: (text) => {
      said += text
    },
    warn: (text) => warned.push(text),
    notice: (text) => noticed.push(text),
    signal: new AbortController().signal,
    ...rest,
  }
}

test('installs names, help, files of other parts and the line in pmcd.conf, and removes them all', async () => {
  await installAgent(SUBJECT(), settings())
  expect(read('pmns/root')).toBe(
    'root {\n\tkernel\t60:0:1\n\tqueue\n}\n\nqueue {\n\told\t400:0:9\n\tdepth\t400:0:0\n\tjobs\n}\n\nqueue.jobs {\n\tdone\t400:0:1\n}\n',
  )
  expect(read('pmns/queue')).toContain('depth\t400:0:0')
  expect(read('pmdas/queue/help.pag')).toContain('@ queue.depth Jobs waiting\0\0')
  expect(read('config/pmlogconf/queue/depth')).toBe('#pmlogconf-setup 2.0\n')
  expect(read('config/pmieconf/queue/full')).toBe('# rule\n')
  expect(read('config/pmchart/Queue')).toBe('#kmchart\n')
  expect(read('etc/pmcd.conf')).toBe(
    '# agents\nlinux 60 dso linux_init /x/pmda_linux.so\nqueue\t400\tpipe\tbinary\tnode /here/pmdaqueue.mjs -d 400\n\n[access]\nallow "*": all;\n',
  )
  expect(said).toContain('Check queue metrics have appeared ... 1 warnings, 2 metrics and 3 values\n')
  expect(warned).toEqual([
    "Warning: queue.depth was another metric, and is now queue's",
    `Warning: removed from ${dir}/etc/pmcd.conf: queue 300 pipe binary /x/queue`,
    `Warning: removed from ${dir}/etc/pmcd.conf: other 400 pipe binary /x/other`,
  ])
  expect(noticed.at(-1)).toBe(
    `PMDA add: to ${dir}/etc/pmcd.conf: queue 400 pipe binary node /here/pmdaqueue.mjs -d 400`,
  )

  expect(await removeAgent('queue', settings({ control: { find: async () => undefined } }))).toBe(true)
  expect(read('pmns/root')).not.toContain('400:0:0')
  expect(read('etc/pmcd.conf')).toBe(
    '# agents\nlinux 60 dso linux_init /x/pmda_linux.so\n\n[access]\nallow "*": all;\n',
  )
  for (const gone of [
    'pmns/queue',
    'pmdas/queue',
    'config/pmlogconf/queue',
    'config/pmieconf/queue',
    'config/pmchart/Queue',
  ])
    expect(existsSync(join(dir, gone)), gone).toBe(false)
  expect(said).toContain('Check queue metrics have gone away ... OK\n')
  expect(await removeAgent('queue', settings())).toBe(false)
})

test('installing twice is harmless, and files of an older version are removed', async () => {
  await installAgent(SUBJECT(), settings())
  const once = snapshot()
  await installAgent(SUBJECT(), settings())
  expect(snapshot()).toEqual(once)
  const { names } = SUBJECT()
  rmSync(join(dir, 'extras/pmieconf/full'))
  await installAgent({ ...SUBJECT(), names: names.slice(0, 1) }, settings())
  expect(read('pmns/root')).not.toContain('jobs')
  expect(existsSync(join(dir, 'config/pmieconf/queue/full'))).toBe(false)
})

test('a failure at any step leaves everything unchanged', async () => {
  chmodSync(join(dir, 'etc/pmcd.conf'), 0o640)
  for (const isRemoval of [false, true]) {
    if (isRemoval) await installAgent(SUBJECT(), settings())
    const before = snapshot()
    const change = (over: Parameters<typeof settings>[0]): Promise<unknown> =>
      isRemoval ? removeAgent('queue', settings(over)) : installAgent(SUBJECT(), settings(over))
    let steps = 0
    for (let failing = 1; ; failing++) {
      let step = 0
      const onChange = (what: string): void => {
        step++
        if (step === failing) throw new Error(`no ${what}`)
      }
      const failed = await change({
        onChange,
        control: { reload: async () => Promise.reject(new Error('late')) },
      }).catch((error: Error) => error.message)
      expect(snapshot()).toEqual(before)
      if (step < failing) {
        expect(failed).toMatch(/^late; undoing the changes failed: late$/)
        break
      }
      expect(failed).toMatch(/^no /)
      steps++
    }
    expect(steps).toBeGreaterThan(6)
    let told = 0
    const reload = async (): Promise<boolean> => ++told > 0
    if (!isRemoval) {
      await expect(change({ control: { reload, find: async () => undefined } })).rejects.toThrow(
        'The collector does not know 2 metrics of queue',
      )
      const mute: MetricCounts = { metrics: 2, values: 0, warnings: 2, unknown: 0 }
      await expect(change({ control: { reload, find: async () => mute } })).rejects.toThrow('does not answer')
      expect(told).toBe(4) // for the change and for its rollback
    }
    await expect(
      change({ control: { reload, find: async () => Promise.reject(new Error('gone')) } }),
    ).rejects.toThrow('gone')
    expect(snapshot()).toEqual(before)
  }
})

test('a name that is a metric and above metrics is refused, and so is a damaged name space', async () => {
  write('pmns/root', 'root {\n\tqueue\t1:1:1\n}\n')
  const before = snapshot()
  await expect(installAgent(SUBJECT(), settings())).rejects.toMatchObject({ code: 'PM_ERR_PMNS' })
  expect(snapshot()).toEqual(before)
  write('pmns/root', 'root {\n\ta\t1:1:x\n}\n')
  await expect(installAgent(SUBJECT(), settings())).rejects.toMatchObject({ code: 'PM_ERR_PMNS' })
})

test('without a collector it reports that; without a name space the agents report their names', async () => {
  rmSync(join(dir, 'pmns/root'))
  await installAgent(SUBJECT(), settings({ control: { reload: async () => false, find: async () => FOUND } }))
  expect(said).toContain('PMCD is not running')
  expect(said).not.toContain('Check')
  expect(existsSync(join(dir, 'pmns/root'))).toBe(false)
})

test('a collector without a PID file, is reported not to have the agent', async () => {
  const control = { reload: async () => false, listeningSocket: async () => '/run/x/pmcd.socket' }
  await installAgent(SUBJECT(), settings({ control }))
  expect(said).not.toContain('PMCD is not running')
  expect(warned.slice(-2)).toEqual([
    'Warning: the collector on /run/x/pmcd.socket has no PID file: it was not signalled, and does not have the agent',
    expect.stringContaining('takes the agent after a SIGHUP'),
  ])
  expect(read('etc/pmcd.conf')).toContain('pmdaqueue')
})

test('a collector is found by its socket', async () => {
  const socketPath = join(dir, 'pmcd.socket')
  const control = runningCollector({ PCP_RUN_DIR: dir }, new AbortController().signal)
  expect(await control.listeningSocket()).toBeUndefined()
  const collector = await startCollector({
    agents: builtinAgents(['pmcd']),
    ports: [],
    socketPath,
    hostname: 'vm',
    log: { fd: -1, line: () => {}, notice: () => {}, close: () => {} },
  })
  expect(await control.listeningSocket()).toBe(socketPath)
  await collector.close()
})

test('help files of others are kept', async () => {
  mkdirSync(join(dir, 'pmdas/queue'))
  write('pmdas/queue/help.pag', 'theirs')
  await installAgent(SUBJECT(), settings())
  await removeAgent('queue', settings())
  expect(read('pmdas/queue/help.pag')).toBe('theirs')
})

test('lines of pmcd.conf are sorted by domain, comments first and access last', () => {
  const text = 'b 9 pipe binary /b\n# c\n\na 100 dso i /a\n [access]\nallow *: fetch;'
  const line = { name: 'n', domain: 50, rest: 'dso x /n' }
  const changed = changeConf(text, line, line)
  expect(changed).toEqual({
    text: '# c\nb 9 pipe binary /b\nn\t50\tdso x /n\na 100 dso i /a\n\n [access]\nallow *: fetch;\n',
    displaced: [],
    hadLine: false,
  })
  expect(changeConf(changed.text, line).text).toBe(
    '# c\nb 9 pipe binary /b\na 100 dso i /a\n\n [access]\nallow *: fetch;\n',
  )
  expect(changeConf('', line, line).text).toBe('n\t50\tdso x /n\n')
})

test('agents of this package and modules get suitable lines', async () => {
  const wish = {
    agent: 'simple',
    style: 'pipe',
    domain: undefined,
    port: 1234,
    binDir: '/opt/bin',
    variables: { PCP_PMDAS_DIR: '/pmdas', PCP_TMP_DIR: '/tmp' },
  } as const
  const { name, domain, names, help, rest, extrasDir } = await resolveAgent(wish)
  expect({ name, domain, rest, extrasDir }).toEqual({
    name: 'simple',
    domain: 253,
    rest: `pipe\tbinary\t${process.execPath} /opt/bin/pmdasimple -d 253`,
    extrasDir: undefined,
  })
  expect(names.map(([each]) => each)).toContain('simple.color')
  expect(help.find((entry) => entry.name === 'simple.color')!.help.length).toBeGreaterThan(20)
  const rests = async (over: Partial<Parameters<typeof resolveAgent>[0]>): Promise<string> =>
    (await resolveAgent({ ...wish, ...over })).rest
  expect(await rests({ style: 'dso' })).toBe('dso\tsimple_init\t/pmdas/simple/pmda_simple.so')
  expect(await rests({ style: 'worker' })).toBe('dso\tworker:simple_init\t/pmdas/simple/pmda_simple.so')
  expect(await rests({ style: 'inet' })).toMatch(/^socket\tinet\t1234\t.*pmdasimple -d 253 -i 1234$/)
  expect(await rests({ style: 'unix' })).toMatch(/^socket\tunix\t(\/tmp\/pmdasimple\.socket)\t.* -u \1$/)
  await expect(resolveAgent({ ...wish, agent: 'nosuch' })).rejects.toThrow('No agent is called "nosuch"')
  await expect(resolveAgent({ ...wish, agent: 'pmcd' })).rejects.toThrow('part of every collector')
})

test('an agent called root changes only its own names in the name space', async () => {
  const before = read('pmns/root')
  const subject = { ...SUBJECT(), name: 'root', names: [['containers.engine', pmid(400, 0, 0)]] as const }
  await installAgent(subject, settings())
  expect(read('pmns/root')).toContain('containers')
  expect(read('pmns/root')).toContain('kernel\t60:0:1')
  expect(read('pmns/root_agent')).not.toContain('kernel')
  await removeAgent('root', settings({ control: { find: async () => undefined } }))
  expect(read('pmns/root').replace(/\s+/g, ' ')).toBe(before.replace(/\s+/g, ' '))
  expect(existsSync(join(dir, 'pmns/root_agent'))).toBe(false)
})
