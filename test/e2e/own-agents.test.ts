/** Own agents, from an empty folder to a running collector and out of it, while another client keeps fetching. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PMCD_ADD_AGENT, PMCD_DROP_AGENT } from '../../src/model/values.ts'
import { type Context, connect } from '../../src/pmapi/index.ts'

const command = join(process.cwd(), 'bin', 'pcp-ts')
let dir: string
let env: NodeJS.ProcessEnv
let child: ChildProcess | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'own-'))
  const home = join(dir, 'home')
  mkdirSync(home)
  env = { ...process.env, HOME: home, PCP_TS_RESTART_MS: '10' }
})
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await closed
  }
  rmSync(dir, { recursive: true, force: true })
})

interface Ended {
  readonly status: number
  readonly text: string
}

async function run(...args: string[]): Promise<Ended> {
  return ended(
    spawn(process.execPath, [command, ...args], { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
}

async function ended(process_: ChildProcess): Promise<Ended> {
  let text = ''
  for (const stream of [process_.stdout!, process_.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  const [status] = (await once(process_, 'close')) as [number]
  return { status, text }
}

/** Runs `pcp-ts agent` for the instance of the test. */
const agent = (...args: string[]): Promise<Ended> => run('agent', ...args, '--dir', 'i')

/** Starts the instance; resolves when it serves. */
async function start(...args: string[]): Promise<ChildProcess> {
  const options = [
    'start',
    '--dir',
    'i',
    '--port',
    '0',
    '--web-port',
    '0',
    '--no-record',
    '--agents',
    'pmcd,simple',
  ]
  const process_ = spawn(process.execPath, [command, ...options, ...args], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = process_
  let text = ''
  const closed = once(process_, 'close')
  for (const stream of [process_.stdout!, process_.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  while (!text.includes('Ctrl-C')) {
    if (process_.exitCode !== null) throw new Error(`ended: ${text}`)
    await Promise.race([once(process_.stdout!, 'data'), closed])
  }
  return process_
}

async function stop(process_: ChildProcess): Promise<void> {
  const closed = once(process_, 'close')
  process_.kill('SIGTERM')
  await closed
}

const open = (): Promise<Context> => connect(`unix:${join(dir, 'i', 'run', 'pmcd.socket')}`)

/** Fetches a metric until it is stopped; returns the PMCD_* changes that the replies had. */
function fetching(context: Context, name: string): { stop(): Promise<{ changes: number; count: number }> } {
  let isStopped = false
  const work = (async () => {
    const id = await context.lookupName(name)
    let changes = 0
    let count = 0
    while (!isStopped) {
      const result = await context.fetch([id])
      if (result.sets[0]!.status <= 0) throw new Error(`fetch ${count}: status ${result.sets[0]!.status}`)
      changes |= result.changes ?? 0
      count++
    }
    return { changes, count }
  })()
  work.catch(() => {})
  return {
    stop: () => {
      isStopped = true
      return work
    },
  }
}

function write(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}

/** An agent of one metric; `extra` are other fields of its declaration. */
const module_ = (name: string, value: string, extra = ''): string => `
import { defineAgent } from 'pcp-ts/pmda'
export const agent = defineAgent({ name: '${name}', ${extra} metrics: {
  '${name}.value': { item: 0, type: 'u32', sem: 'instant', units: 'none', help: 'A value', value: () => ${value} },
} })
`

test('new, its test, add, edit, restart and remove, while others fetch', async () => {
  expect(await run('agent', 'new', 'queue')).toMatchObject({ status: 0 })
  const tested = await ended(
    spawn(process.execPath, ['--test'], { cwd: join(dir, 'queue'), env, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  expect(tested, tested.text).toMatchObject({ status: 0 })
  expect(tested.text).toMatch(/^# pass 3$/m)
  const first = await start()
  const pid = readFileSync(join(dir, 'i/run/pmcd.pid'), 'utf8')
  const other = await open()
  const others = fetching(other, 'simple.numfetch')
  for (const kind of ['daemon', 'thread', 'dso']) {
    const added = await agent('add', 'queue/agent.mjs', '--kind', kind)
    expect(added).toEqual({ status: 0, text: `agent queue: ${kind}, domain 510, 3 metrics\n` })
    const { status, text } = await agent('list')
    expect(status).toBe(0)
    expect(text).toMatch(new RegExp(`^queue +510 +${kind} +ok +3 +.*/queue/agent.mjs +-$`, 'm'))
    const file = join(dir, 'queue/agent.mjs')
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/\[0, (\d+)\]/, (_, n) => `[0, ${Number(n) + 1}]`),
    )
    expect(await agent('add', 'queue/agent.mjs', '--kind', kind)).toMatchObject({ status: 0 })
  }
  const env2 = { ...env, PCP_CONF: join(dir, 'i/etc/pcp.conf') }
  const shown = await ended(
    spawn(process.execPath, [command, 'pminfo', '-f', 'queue.limit'], {
      env: env2,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  expect(shown.text).toContain('inst [0 or "left"] value 13\n')
  const { changes, count } = await others.stop()
  expect(count).toBeGreaterThan(10)
  expect(changes & (PMCD_ADD_AGENT | PMCD_DROP_AGENT)).toBe(PMCD_ADD_AGENT | PMCD_DROP_AGENT)
  // The same collector: it was not restarted, and the context has not reconnected.
  expect(readFileSync(join(dir, 'i/run/pmcd.pid'), 'utf8')).toBe(pid)
  await other.close()
  await stop(first)

  await start()
  const again = await open()
  expect((await again.values(['queue.limit'])).get('queue.limit').instances.get('left')).toBe(13)
  expect(await agent('remove', 'queue')).toEqual({ status: 0, text: 'agent queue, domain 510: removed\n' })
  await expect(again.lookupName('queue.limit')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
  await again.close()
})

test('an agent in a folder without packages is added before the first start, and keeps its domain', async () => {
  write('one.mjs', module_('one', '1'))
  write('two.mjs', module_('two', '2'))
  expect((await agent('add', 'one.mjs')).text).toMatch(
    /^agent one: daemon, domain 510, 1 metric\nNo collector runs: /,
  )
  expect((await agent('add', 'two.mjs', '--kind', 'thread')).text).toMatch(
    /^agent two: thread, domain 509, 1 metric\n/,
  )
  expect((await agent('remove', 'one')).status).toBe(0)
  await start()
  expect((await agent('add', 'two.mjs', '--kind', 'dso')).text).toBe('agent two: dso, domain 509, 1 metric\n')
})

test('start --agent adds agents', async () => {
  write('one.mjs', module_('one', '1'))
  write('two.mjs', module_('two', '2'))
  await start('--agent', 'one.mjs', '--agent', 'two.mjs')
  const context = await open()
  const row = await context.values(['one.value', 'two.value'])
  expect([row.value('one.value'), row.value('two.value')]).toEqual([1, 2])
  await context.close()
})

test('conflicts are refused with the names of both agents', async () => {
  write('one.mjs', module_('one', '1', 'domain: 400,'))
  write('two.mjs', module_('two', '2', 'domain: 400,'))
  write('pmcd.mjs', module_('pmcd', '2'))
  write('taken.mjs', module_('taken', '1', 'domain: 253,'))
  write('names.mjs', module_('names', '1').replace('names.value', 'one.value'))
  mkdirSync(join(dir, 'other'))
  write('other/one.mjs', module_('one', '1', 'domain: 401,'))
  await start()
  expect(await agent('add', 'one.mjs')).toMatchObject({ status: 0 })
  const conf = readFileSync(join(dir, 'i/etc/pmcd/pmcd.conf'), 'utf8')
  for (const [file, message] of [
    ['two.mjs', 'Agent "two": domain 400 belongs to agent "one"; choose another with --domain, e.g. 510'],
    ['pmcd.mjs', 'pcp-ts has an agent "pmcd": give yours another name'],
    ['taken.mjs', 'Agent "taken": domain 253 belongs to agent "simple"'],
    ['names.mjs', 'Agent "names": metric one.value belongs to agent "one"'],
    ['other/one.mjs', 'has an agent "one" already'],
  ] as const) {
    const { status, text } = await agent('add', file)
    expect(text).toContain(message)
    expect(status).toBe(1)
  }
  expect(readFileSync(join(dir, 'i/etc/pmcd/pmcd.conf'), 'utf8')).toBe(conf)
  expect(await agent('add', 'two.mjs', '--domain', '402')).toMatchObject({ status: 0 })
})

test('check names what is wrong, and survives crashes and endless loops', async () => {
  write('good.mjs', module_('good', '7'))
  write('syntax.mjs', 'export const agent = {')
  write('none.mjs', 'export const other = 1')
  write('field.mjs', module_('field', '1').replace("type: 'u32'", "type: 'u33'"))
  write('value.mjs', module_('value', "{ throw new Error('no sensor') }").replace('() => {', '() => { '))
  write('crash.mjs', 'process.abort()')
  write('exit.mjs', 'process.exit(3)')
  write('loop.mjs', 'for (;;) {}')
  const good = await agent('check', 'good.mjs')
  expect(good.status).toBe(0)
  expect(good.text).toMatch(/^good.value {2}\[A value\]$/m)
  expect(good.text).toMatch(/^ {4}value 7$/m)
  expect(good.text).toContain('Nothing is wrong.')
  for (const [file, message] of [
    ['syntax.mjs', /Cannot load .*syntax\.mjs: /],
    ['none.mjs', /none\.mjs exports no agent "agent": make one with defineAgent/],
    ['field.mjs', /metric field\.value: type must be one of .*, not "u33"/],
    ['value.mjs', /^1 problem:\n {2}value\.value: /m],
    ['crash.mjs', /crash\.mjs ends its process with signal SIGABRT/],
    ['exit.mjs', /exit\.mjs ends its process with exit status 3/],
    ['loop.mjs', /loop\.mjs does not answer within 10 seconds: a loop, or an await, does not end/],
    ['absent.mjs', /There is no file .*absent\.mjs; pcp-ts agent new NAME writes an agent/],
  ] as const) {
    const { status, text } = await agent('check', file)
    expect(text, file).toMatch(message)
    expect(status, file).toBe(1)
  }
})

test('a crash and a hang of an agent do not affect the others, and list shows why', async () => {
  const trouble = (name: string, what: string): string =>
    `import { existsSync } from 'node:fs'\n${module_(name, `{ if (existsSync('${join(dir, name)}')) ${what}; return 1 }`)}`
  write('crash.mjs', trouble('crash', "process.kill(process.pid, 'SIGKILL')"))
  write('hang.mjs', trouble('hang', 'for (;;) {}'))
  await start()
  expect(await agent('add', 'crash.mjs')).toMatchObject({ status: 0 })
  expect(await agent('add', 'hang.mjs', '--kind', 'thread')).toMatchObject({ status: 0 })
  const context = await open()
  const fetchOne = async (name: string): Promise<unknown> => {
    try {
      return (await context.values([name])).value(name)
    } catch {
      return undefined // it is being restarted
    }
  }
  for (const name of ['crash', 'hang']) {
    write(name, '')
    const suffering = fetchOne(`${name}.value`)
    const other = await open()
    expect((await other.values(['simple.numfetch'])).value('simple.numfetch')).toBeTypeOf('number')
    await other.close()
    expect(await suffering).toBeUndefined()
    rmSync(join(dir, name))
    // The collector restarts it.
    while ((await fetchOne(`${name}.value`)) !== 1) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { status, text } = await agent('list')
  expect(status).toBe(0)
  expect(text).toMatch(/^crash +510 +daemon +ok +1 .* protocol failure.*signal\(9\)$/m)
  expect(text).toMatch(/^hang +509 +thread +ok +1 .* protocol failure/m)
  await context.close()
})

test('an agent that others may change is refused', async () => {
  const path = write('open.mjs', module_('open', '1'))
  chmodSync(path, 0o666)
  const { status, text } = await agent('add', 'open.mjs')
  expect(text).toMatch(
    /open\.mjs.*an agent runs as your account, so only you or root may be able to change its files/,
  )
  expect(status).toBe(1)
})

test('a program in another language is an agent by its PDUs', async () => {
  write(
    'daemon.mjs',
    `${module_('lang', '5', 'domain: 433,').replace('import { defineAgent }', 'import { defineAgent, runDaemon }')}\nawait runDaemon(agent)\n`,
  )
  mkdirSync(join(dir, 'node_modules'))
  const { symlinkSync } = process.getBuiltinModule('node:fs')
  symlinkSync(process.cwd(), join(dir, 'node_modules', 'pcp-ts'))
  await start()
  const added = await agent('add', '--command', '--name', 'lang', process.execPath, 'daemon.mjs')
  expect(added).toEqual({ status: 0, text: 'agent lang: command, domain 433, 1 metric\n' })
  const context = await open()
  expect((await context.values(['lang.value'])).value('lang.value')).toBe(5)
  await context.close()
  expect(await agent('check', 'lang')).toMatchObject({ status: 0 })
})
