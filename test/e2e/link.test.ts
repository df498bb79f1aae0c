/** pcp-ts link and unlink: names in a directory of the user's, and whose they are. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AGENTS } from '../../src/agents/registry.ts'
import { TOOLS } from '../../src/tools/registry.ts'

const BIN = resolve('bin')

let dir: string
let home: string
/** The default directory. */
let links: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-link-'))
  home = join(dir, 'home')
  links = join(home, '.local', 'bin')
  mkdirSync(links, { recursive: true })
  writeFileSync(join(dir, 'pcp.conf'), `PCP_BIN_DIR=${dir}/pcp\nPCP_BINADM_DIR=${dir}/pcp/adm\n`)
})
afterEach(() => rmSync(dir, { recursive: true }))

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command of pcp-ts; the PATH begins with `path`. */
async function pcpTs(args: readonly string[], path: readonly string[] = [links]): Promise<Ended> {
  return run(process.execPath, [join(BIN, 'pcp-ts'), ...args], path)
}

async function run(program: string, args: readonly string[], path: readonly string[]): Promise<Ended> {
  const node = join(dir, 'node')
  if (!existsSync(node)) {
    mkdirSync(node)
    symlinkSync(process.execPath, join(node, 'node'))
  }
  const child = spawn(program, args, {
    cwd: dir,
    env: { HOME: home, PATH: [...path, node].join(':'), PCP_CONF: join(dir, 'pcp.conf') },
  })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      printed[name] += chunk
    })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, ...printed }
}

/** Writes an executable file. */
function program(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '#!/bin/sh\necho other\n')
  chmodSync(path, 0o755)
}

/** Makes another installation of this package; returns its bin folder. */
function otherInstallation(): string {
  const top = join(dir, 'v18', 'lib', 'node_modules', 'pcp-ts')
  program(join(top, 'bin', 'pminfo'))
  writeFileSync(join(top, 'package.json'), '{ "name": "pcp-ts", "version": "0.0.9" }\n')
  return join(top, 'bin')
}

const ALL = [
  ...TOOLS.filter(
    ({ isForScripts, name, subcommandOf }) => !isForScripts && !subcommandOf && name !== 'pcp-ts',
  ).map(({ name }) => name),
  ...AGENTS.map(({ name }) => `pmda${name}`),
].sort()

test('all names are linked in ~/.local/bin, run the commands there, and are removed again', async () => {
  rmSync(join(home, '.local'), { recursive: true })
  expect(await pcpTs(['link'])).toMatchObject({ status: 0, stderr: '' })
  expect(readdirSync(links).sort()).toEqual(ALL)
  for (const name of ALL) expect(readlinkSync(join(links, name))).toBe(join(BIN, name))
  expect(await run(join(links, 'pmerr'), ['-12357'], [links])).toEqual({
    status: 0,
    stdout: 'Code: -12357 0xffffcfbb Text: Unknown metric name\n',
    stderr: '',
  })
  expect((await pcpTs(['link'])).stdout).toBe(`Linked before: ${ALL.length} names\n`)
  expect(await pcpTs(['unlink'])).toEqual({
    status: 0,
    stdout: `Removed ${ALL.length} links from ${links}\n`,
    stderr: '',
  })
  expect(readdirSync(links)).toEqual([])
})

test('named commands in a named directory, which is created', async () => {
  const own = join(dir, 'own', 'bin')
  expect(await pcpTs(['link', './own/bin', 'pminfo', 'pmval'], [own])).toEqual({
    status: 0,
    stdout: `Linked 2 names in ${own}:\n  pminfo pmval\n`,
    stderr: '',
  })
  expect(readdirSync(own)).toEqual(['pminfo', 'pmval'])
  expect((await pcpTs(['unlink', 'own', 'pmval'], [own])).status).toBe(1)
  expect((await pcpTs(['unlink', 'own/bin', 'pmval'], [own])).status).toBe(0)
  expect(readdirSync(own)).toEqual(['pminfo'])
  expect((await pcpTs(['unlink', own, 'pmval'])).stderr).toBe(
    'pcp-ts unlink: pmval: not removed: not linked\n',
  )
  expect((await pcpTs(['link', 'pminof'])).stderr).toMatch(/Unknown command "pminof"\. Did you mean pminfo\?/)
  expect((await pcpTs(['link', 'pminfo', './own'])).stderr).toMatch(/the directory must be the first operand/)
})

test('names of others are kept, with or without --force, and their owner is printed', async () => {
  program(join(links, 'pmrep'))
  mkdirSync(join(links, 'pmstat'))
  program(join(dir, 'pcp', 'pmval'))
  symlinkSync(join(dir, 'pcp', 'pmval'), join(links, 'pmval'))
  symlinkSync('nowhere', join(links, 'pmprobe'))
  // Made by hand: a link to ours under another name, and a relative one, as npm makes.
  symlinkSync(join(BIN, 'pminfo'), join(links, 'pmie'))
  const before = readdirSync(links).map((name) => [name, lstatSync(join(links, name)).ino])
  const names = ['pmie', 'pmprobe', 'pmrep', 'pmstat', 'pmval']
  for (const force of [[], ['--force']]) {
    const { status, stdout, stderr } = await pcpTs(['link', ...force, ...names])
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr.split('\n')).toEqual([
      `pcp-ts link: pmie: not linked: another program's link to ${BIN}/pminfo`,
      "pcp-ts link: pmprobe: not linked: another program's link to nowhere",
      `pcp-ts link: pmrep: not linked: another program, ${links}/pmrep`,
      `pcp-ts link: pmstat: not linked: another program, ${links}/pmstat`,
      `pcp-ts link: pmval: not linked: a link to the installed PCP's ${dir}/pcp/pmval`,
      '',
    ])
    expect(await pcpTs(['unlink', ...force])).toMatchObject({
      status: 0,
      stdout: `Removed 0 links from ${links}\n`,
    })
    expect((await pcpTs(['unlink', ...force, ...names])).status).toBe(1)
  }
  expect(readdirSync(links).map((name) => [name, lstatSync(join(links, name)).ino])).toEqual(before)
})

test('links to a removed installation are replaced and removed; to another one only with --force', async () => {
  const other = otherInstallation()
  symlinkSync(join(other, 'pminfo'), join(links, 'pminfo'))
  symlinkSync(join(dir, 'gone', 'pcp-ts', 'bin', 'pmval'), join(links, 'pmval'))
  symlinkSync(join(dir, 'gone', 'pcp-ts', 'bin', 'pmold'), join(links, 'pmold'))
  expect((await pcpTs(['unlink', '--list'])).stdout.split('\n')).toEqual([
    `pminfo: linked to pcp-ts 0.0.9 in ${dirname(other)}`,
    `pmold: linked to a removed pcp-ts in ${dir}/gone/pcp-ts`,
    `pmval: linked to a removed pcp-ts in ${dir}/gone/pcp-ts`,
    '',
  ])
  expect(await pcpTs(['link', 'pminfo', 'pmval'])).toEqual({
    status: 1,
    stdout: `Linked 1 name in ${links}:\n  pmval\n`,
    stderr: `pcp-ts link: pminfo: not linked: linked to pcp-ts 0.0.9 in ${dirname(other)}; --force replaces it\n`,
  })
  expect(await pcpTs(['unlink'])).toEqual({
    status: 0,
    stdout: `Removed 2 links from ${links}\n`,
    stderr: `pcp-ts unlink: pminfo: not removed: linked to pcp-ts 0.0.9 in ${dirname(other)}; --force removes it\n`,
  })
  expect((await pcpTs(['link', '--force', 'pminfo'])).status).toBe(0)
  expect(readlinkSync(join(links, 'pminfo'))).toBe(join(BIN, 'pminfo'))
  rmSync(join(links, 'pminfo'))
  symlinkSync(join(other, 'pminfo'), join(links, 'pminfo'))
  expect((await pcpTs(['unlink', '--force'])).stdout).toBe(`Removed 1 link from ${links}\n`)
  expect(readdirSync(links)).toEqual([])
})

test('--list and --dry-run change nothing', async () => {
  expect((await pcpTs(['link', '--list', 'pminfo', 'pmval'])).stdout).toBe(
    'pminfo  not linked\npmval   not linked\n',
  )
  expect((await pcpTs(['link', '--dry-run', join(dir, 'new'), 'pminfo'])).stdout).toBe(
    `Would link 1 name in ${dir}/new:\n  pminfo\n`,
  )
  expect(existsSync(join(dir, 'new'))).toBe(false)
  expect(readdirSync(links)).toEqual([])
  await pcpTs(['link', 'pminfo'])
  expect((await pcpTs(['unlink', '--dry-run'])).stdout).toBe(`Would remove ${links}/pminfo\n`)
  expect((await pcpTs(['link', '--list', 'pminfo'])).stdout).toBe('pminfo  linked to this installation\n')
})

test('warns of a directory not on the PATH, of one that wins, and of programs that the links hide', async () => {
  const pcp = join(dir, 'pcp')
  program(join(pcp, 'pminfo'))
  expect((await pcpTs(['link', 'pminfo'], [pcp])).stderr).toBe(
    `pcp-ts link: warning: ${links} is not on the PATH; add to ~/.profile: export PATH="${links}:$PATH"\n`,
  )
  expect((await pcpTs(['link', 'pminfo', 'pmval'], [pcp, links])).stderr).toBe(
    `pcp-ts link: warning: the installed PCP in ${pcp} comes before ${links} on the PATH and wins for 1 name:\n  pminfo\n`,
  )
  expect((await pcpTs(['link', 'pminfo', 'pmval'], [links, pcp])).stderr).toBe(
    `pcp-ts link: warning: the links hide 1 name of the installed PCP in ${pcp}; pcp-ts unlink removes them:\n  pminfo\n`,
  )
})

test('errors name the directory and what to do', async () => {
  writeFileSync(join(dir, 'file'), '')
  expect(await pcpTs(['link', './file', 'pminfo'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^pcp-ts link: Cannot change .*\/file: .*; it must be a directory\n$/),
  })
  expect((await pcpTs(['link', `${BIN}/`])).stderr).toMatch(/is the folder of the commands themselves/)
  if (process.geteuid!() !== 0) {
    chmodSync(links, 0o500)
    expect((await pcpTs(['link', 'pminfo'])).stderr).toMatch(
      /Permission denied; name a directory that you may write to/,
    )
    chmodSync(links, 0o700)
  } else console.log('skipped: root may write to every directory')
})

test('a copy that npx keeps for a while is not linked', async () => {
  const top = join(dir, '_npx', '0a1b', 'node_modules', 'pcp-ts')
  mkdirSync(join(top, '..'), { recursive: true })
  symlinkSync(dirname(BIN), top)
  const { status, stderr } = await run(process.execPath, [join(top, 'bin', 'pcp-ts'), 'link'], [links])
  expect(status).toBe(1)
  expect(stderr).toMatch(/install it first: npm install --global pcp-ts/)
  expect(readdirSync(links)).toEqual([])
})

test('links go through the path of the package manager, which an upgrade keeps', async () => {
  const top = join(dir, 'lib', 'node_modules', 'pcp-ts')
  mkdirSync(dirname(top), { recursive: true })
  symlinkSync(dirname(BIN), top)
  mkdirSync(join(dir, 'bin'))
  symlinkSync('../lib/node_modules/pcp-ts/bin/pcp-ts', join(dir, 'bin', 'pcp-ts'))
  await run(process.execPath, [join(dir, 'bin', 'pcp-ts'), 'link', 'pminfo'], [links])
  expect(readlinkSync(join(links, 'pminfo'))).toBe(join(top, 'bin', 'pminfo'))
})

test('commands that run at the same time link each name once, and lose none', async () => {
  const other = otherInstallation()
  for (const name of ALL) {
    program(join(other, name))
    symlinkSync(join(other, name), join(links, name))
  }
  const ended = await Promise.all(Array.from({ length: 4 }, () => pcpTs(['link', '--force'])))
  expect(ended.map(({ status, stderr }) => [status, stderr])).toEqual(ended.map(() => [0, '']))
  expect(readdirSync(links).sort()).toEqual(ALL)
  for (const name of ALL) expect(readlinkSync(join(links, name))).toBe(join(BIN, name))
  await Promise.all([pcpTs(['unlink']), pcpTs(['unlink'])])
  expect(readdirSync(links)).toEqual([])
  expect(readFileSync(join(other, 'pminfo'), 'utf8')).toMatch(/other/)
})
