/**
 * Compares our commands that change name space files with the reference: the same command lines in two copies of a directory must have the
 * same output and status, and leave the same files. Runs the reference on ordinary files only: as root it overwrites anything, including
 * devices.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as makeStdpmid } from '../../src/tools/Make.stdpmid.ts'
import { tool as pmnsadd } from '../../src/tools/pmnsadd.ts'
import { tool as pmnsdel } from '../../src/tools/pmnsdel.ts'
import { tool as pmnsmerge } from '../../src/tools/pmnsmerge.ts'
import { tool as rebuild } from '../../src/tools/Rebuild.ts'
import { generator } from '../lib/generator.ts'
import { isExhaustive, seed } from '../lib/seed.ts'
import { testIo } from '../tools/run-tool.ts'
import { plainEnv } from './lib/programs.ts'

const BIN = '/usr/lib/pcp/bin'
const SCRIPTS = '/usr/lib/pcp/pmns'
/** Random name spaces per run. */
const CASES = isExhaustive ? 1000 : 20
const hasReference = existsSync(join(BIN, 'pmnsmerge')) && existsSync(join(SCRIPTS, 'Rebuild'))
if (!hasReference) console.log('skipped: the reference (Debian package pcp) is not installed')

type Files = Readonly<Record<string, string>>

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Outcome {
  readonly ended: Ended
  readonly files: Files
}

const top = hasReference ? mkdtempSync(join(tmpdir(), 'pmns-tools-')) : ''
let compared = 0
afterAll(() => {
  if (!hasReference) return
  rmSync(top, { recursive: true })
  console.log(`compared ${compared} command lines with the reference's`)
})

/** Runs in a fresh directory with these files; its name does not affect the result. */
function inside(files: Files, run: (cwd: string) => Ended): Outcome
function inside(files: Files, run: (cwd: string) => Promise<Ended>): Promise<Outcome>
function inside(files: Files, run: (cwd: string) => Ended | Promise<Ended>): Outcome | Promise<Outcome> {
  const parent = mkdtempSync(join(top, 'x'))
  const cwd = join(parent, 'pmns')
  mkdirSync(cwd)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  const finish = (ended: Ended): Outcome => {
    const left = Object.fromEntries(
      readdirSync(cwd)
        .sort()
        .map((name) => [name, readFileSync(join(cwd, name), 'utf8')]),
    )
    rmSync(parent, { recursive: true })
    const clean = (text: string): string => text.replaceAll(parent, 'TOP')
    return { ended: { ...ended, stdout: clean(ended.stdout), stderr: clean(ended.stderr) }, files: left }
  }
  const ended = run(cwd)
  return ended instanceof Promise ? ended.then(finish) : finish(ended)
}

function envFor(cwd: string): Record<string, string> {
  return {
    PCP_VAR_DIR: join(cwd, '..'),
    PCP_TMP_DIR: tmpdir(),
    PCP_PMCDCONF_PATH: join(cwd, 'pmcd.conf'),
    PATH: `${process.env['PATH']}:${BIN}`,
  }
}

function theirs(command: string, args: readonly string[], files: Files): Outcome {
  compared++
  return inside(files, (cwd) => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd,
      env: plainEnv(envFor(cwd)),
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  })
}

function ours(tool: Tool, args: readonly string[], files: Files): Promise<Outcome> {
  return inside(files, async (cwd) => {
    const io = { ...testIo(tool.name, args, envFor(cwd)), cwd }
    const status = await tool.run(io)
    return { status, ...io.printed }
  })
}

const beforeUsage = (text: string): string => text.replace(/Usage:.*/s, 'Usage:')

/** Removes our message about a removed metric, and masks the ids of non-leaves, which the reference prints in two ways. */
const withoutDisplaced = (text: string): string =>
  text
    .replaceAll('PMID PM_ID_NULL', 'PMID 511.4095.1023')
    .replace(/.* gives way to the names below it\.\n.*\n/g, '')

function comparable({ ended, files }: Outcome): unknown {
  return {
    files,
    status: ended.status,
    stdout: beforeUsage(ended.stdout),
    stderr: withoutDisplaced(beforeUsage(ended.stderr)),
  }
}

const root = (...entries: string[]): string => `root {\n${entries.map((entry) => `\t${entry}\n`).join('')}}\n`

const FILES: Files = {
  n1: 'root {\n\ta\t1:1:1\n\tfoo\n}\nfoo { b 1:2:1\n}\n',
  n2: 'root { bar\n foo }\nbar { c 1:3:1 }\nfoo { d 1:2:2 \n b 1:2:9 \n  z\n}\nfoo.z { q 1:2:3 }\n',
  ns: 'root {\n\ta\t1:1:1\n\tfoo\n\tbar\n}\n\nfoo {\n\tb\t1:2:1\n\td\t1:2:2\n\tz\n}\n\nfoo.z {\n\tq\t1:2:3\n}\n\nbar {\n\tc\t1:3:1\n}\n',
  two: root('a 1:1:1', 'b 1:1:1'),
  dynamic: root('d 29:*:*', 'e 30', 'a 1:1:1'),
  mixed:
    'root {\nsub\nleaf 1:1:1\ns2\n}\ns2 { a 1:1:2\n}\nsub { q\n x 1:1:3\n r\n}\nsub.q { a 1:1:4\n}\nsub.r { b 1:1:5\n}\n',
  bad: 'root { a 1:1: }\n',
  nogroup: root('a'),
  lost: `${root('a 1:1:1')}x { y 1:1:2\n}\n`,
  range: root('a 600:1:1'),
  cpp: '#define D 7\n/* c { */\n#ifdef X\nnever\n#endif\nroot { a D:1:1\n}\n',
  unclosed: '#ifdef X\nroot { a 1:1:1\n}\n',
  empty: '',
  none: 'root {\n}\n',
  old: `#define _DATESTAMP 19991231\n${root('old 1:9:1')}`,
  new: `#define _DATESTAMP\t20200101 \n${root('new 1:9:2')}`,
  year: `#define _DATESTAMP 1998\n${root('year 1:9:3')}`,
  blank: `#define _DATESTAMP\n${root('blank 1:9:4')}`,
  word: `#define  _DATESTAMP abc\n${root('word 1:9:5')}`,
  late: `${root('late 1:9:6')}#define _DATESTAMP 19970101\n`,
}

const MERGES: readonly string[] = [
  'n1 out',
  'n1 n2 out',
  'n2 n1 out',
  '-v n1 n2 out',
  '-fv n1 n2 out',
  '--force --verbose n1 n2 out',
  'n1 ns',
  '-f n1 ns',
  '-x n1 n2 out',
  '-x two out',
  'two out',
  '-x n1 two out',
  '-d two out',
  '-dx two out',
  '-xd two out',
  '-dxd n1 out',
  'n1 nope out',
  'nope n1 out',
  'n1',
  '',
  '-Q n1 out',
  '-? x',
  'n1 /nodir/out',
  '-f n1 n2/out',
  'dynamic n1 out',
  'n1 dynamic out',
  '-x dynamic n1 out',
  '-x dynamic dynamic out',
  'mixed out',
  'n1 mixed n2 dynamic out',
  'bad out',
  'n1 bad out',
  '-v n1 bad n2 out',
  'nogroup out',
  'lost out',
  'range out',
  'cpp out',
  'cpp n1 out',
  'unclosed out',
  'empty out',
  'none out',
  'none n1 none out',
  'n1 empty out',
  '-v new old n1 year n2 out',
  '-va new old n1 year n2 out',
  '-v blank word late n1 new out',
  '-v old old new out',
  '-v -a late n2 word out',
  '--nodups n1 out',
  '--dupok n1 out',
  '--nodup two out',
  '--no n1 out',
  '-fx n1 n2 out',
] // prettier-ignore

const DELETIONS: readonly string[] = [
  'a',
  'foo',
  'foo.z',
  'foo.z.q',
  'foo.b foo.d',
  'a foo bar',
  'nope',
  'a nope',
  'foo foo.b',
  'foo.b foo',
  'a a',
  'a.b',
  '.',
  'foo.',
  '.a',
  'root',
  'foo..b',
  '-n dynamic d',
  '-n dynamic d.x',
  '-n dynamic e',
  '-n dynamic a',
  '-n nope a',
  '-n bad a',
  '-n lost a',
  '-n two a',
  '-n two b',
  '-n cpp a',
  '-n none a',
  '-n mixed sub.q',
  '-n mixed sub.q.a leaf',
  '-n empty a',
  '-n',
  '',
  '-Q a',
  '--namespace=two a',
  '--name two b',
  'a -n two',
] // prettier-ignore

const SUBTREES: Files = {
  plain: 'foo { e 1:2:4\n }\n',
  deep: 'my.new.stuff { z 5:1:1 }\n',
  nested: 'foo.w {\n e 1:2:5\n g\n}\nfoo.w.g { k 1:4:5\n}\n',
  undefined: 'foo.w {\n e 1:2:5\n g\n}\n',
  apart: 'foo { w\n}\nfoo.w.g { k 1:4:5\n}\n',
  other: 'x.y { w 7:4:5\n}\nz { v 7:5:6\n}\n',
  under: 'a { w 1:2:9\n}\n',
  whole: 'root { q\n}\nq { w 1:4:5\n}\n',
  macro: '/* c */\n#ifndef X\n#define D 7\n#endif\nx.y { w D:4:5\n}\n',
  wrong: 'x.y { w 1:2:\n}\n',
  far: 'x.y { w 1:2:5000\n}\n',
  junk: 'hello {\n there\n}\n',
  again: 'foo { b 1:2:1\n }\n',
  differs: 'foo { b 1:2:9\n }\n',
  onto: 'foo { z 1:2:33\n }\n',
  below: 'd { e 29:0:1\n}\n',
  dyn: 'foo.dyn { x 29:*:*\n y 30\n}\n',
}

const ADDITIONS: readonly string[] = [
  ...Object.keys(SUBTREES).map((name) => `-n ns ${name}`),
  ...['plain', 'deep', 'below', 'whole'].flatMap((name) => [`-n dynamic ${name}`, `-n none ${name}`]),
  '-n bad plain',
  '-n lost plain',
  '-n ns nope',
  '-n nope plain',
  '-d -n ns plain',
  '-nns plain',
  '-n cpp plain',
  '',
  '-n ns plain deep',
  '-n mixed nested',
  '-n two plain',
] // prettier-ignore

/** Masks the reference's temporary file, which it reads through pmnsmerge, and the name space it often does not name. */
function addition(outcome: Outcome): unknown {
  const clean = (text: string): string =>
    text
      .replace(/\[[^\]]*:\d+\]/g, '[FILE:LINE]')
      .replace(/\/var\/tmp\/pmnsadd[^,]*\/tmp|\((?:\w+), 1\)/g, (found) =>
        found.startsWith('/') ? 'FILE' : '(FILE, 1)',
      )
      .replace(/PMNS file "\w*"/g, 'PMNS file')
      .replaceAll('pmnsmerge: ', 'pmnsadd: ')
  const { ended, files } = outcome
  // A script prints its usage text to standard output, unlike other commands of PCP.
  const usage = /Usage:.*/s.exec(ended.stdout)?.[0] ?? ''
  const [stdout, stderr] = [ended.stdout.replace(usage, ''), ended.stderr + usage]
  return comparable({ ended: { ...ended, stdout: clean(stdout), stderr: clean(stderr) }, files })
}

const split = (line: string): string[] => line.split(' ').filter((word) => word !== '')

/** Generates a name space from small alphabets, so that several of them collide. */
function randomPmns(next: (below: number) => number): string {
  const groups: string[] = []
  const write = (path: string, depth: number): void => {
    let text = `${path === '' ? 'root' : path} {\n`
    const below: string[] = []
    const names = ['a', 'b', 'c', 'd'].filter(() => next(3) > 0)
    if (names.length === 0) names.push('e')
    for (const name of names) {
      if (depth < 3 && next(3) === 0) {
        below.push(path === '' ? name : `${path}.${name}`)
        text += `${next(2) === 0 ? '\t' : '  '}${name}\n`
      } else if (next(8) === 0) text += `${name} ${next(5) + 1}:*:*\n`
      else text += `\t${name} ${next(2)}:${next(2)}:${next(3)}\n`
    }
    groups.push(`${text}}\n`)
    for (const name of below) write(name, depth + 1)
  }
  write('', 0)
  return groups.join(next(2) === 0 ? '\n' : '')
}

const PMCD_CONF =
  '# agents\nroot 1 pipe binary x\nmmv 70 dso mmv_init y\nproc 3 pipe binary z\n[access]\nallow * : all;\n'
const REBUILD: Files = {
  'pmcd.conf': PMCD_CONF,
  'stdpmid.local': '# none\n',
  'stdpmid.pcp': 'ROOT 1\nPROC\t3\nMMV 70\nRESERVED_DO_NOT_USE 511\n',
  root_mmv: '#include <stdpmid>\nroot {\n mmv MMV:*:*\n}\n',
  root_root: '#include <stdpmid>\nroot {\n containers\n}\ncontainers { name ROOT:0:1\n}\n',
  root_other: root('other 99:1:1'),
  // The reference creates it only after it was needed.
  stdpmid: '#define ROOT 1\n#define PROC 3\n#define MMV 70\n',
}
const OLD_ROOT = 'root {\n old 70:1:1\n mmv\n}\nmmv {\n z 70:1:2\n}\n'

describe.skipIf(!hasReference)('beside the reference', () => {
  test.each(MERGES)('pmnsmerge %s', async (line) => {
    const want = theirs(join(BIN, 'pmnsmerge'), split(line), FILES)
    const got = await ours(pmnsmerge, split(line), FILES)
    // If replacing fails, ours keeps the old file.
    const known = line.startsWith('-f') && want.ended.status !== 0 ? want.files : got.files
    expect(comparable({ ...got, files: known })).toEqual(comparable(want))
  })

  test.each(DELETIONS)('pmnsdel %s', async (line) => {
    const args =
      line.includes('-n') || line === '' || line.startsWith('-') ? split(line) : ['-n', 'ns', ...split(line)]
    expect(comparable(await ours(pmnsdel, args, FILES))).toEqual(
      comparable(theirs(join(BIN, 'pmnsdel'), args, FILES)),
    )
  })

  test.each(ADDITIONS)('pmnsadd %s', async (line) => {
    const files = { ...FILES, ...SUBTREES }
    expect(addition(await ours(pmnsadd, split(line), files))).toEqual(
      addition(theirs(join(BIN, 'pmnsadd'), split(line), files)),
    )
  })

  test('random name spaces merge, grow and shrink alike', async () => {
    for (let n = 0; n < CASES; n++) {
      const next = generator(seed * CASES + n)
      const files: Files = {
        p: randomPmns(next),
        q: randomPmns(next),
        r: randomPmns(next),
        s: randomPmns(next).replace(/^root/, 'a.x'),
      }
      const unique = next(4) === 0 ? ['-x'] : []
      const merge = [...unique, 'p', 'q', 'r', 'out']
      const want = theirs(join(BIN, 'pmnsmerge'), merge, files)
      const got = await ours(pmnsmerge, merge, files)
      // In messages of the reference a removed metric keeps its PMID, unlike in its output.
      const masked = (outcome: Outcome): unknown =>
        got.ended.stderr.includes(' gives way ') ? outcome.files : comparable(outcome)
      expect([n, masked(got)]).toEqual([n, masked(want)])
      const path = ['a', 'b', 'a.b', 'b.a', 'c.c', 'd.a.b'][next(6)]!
      const names = ['-n', 'p', path]
      expect([n, comparable(await ours(pmnsdel, names, files))]).toEqual([
        n,
        comparable(theirs(join(BIN, 'pmnsdel'), names, files)),
      ])
    }
  })

  test.each([
    ['', {}],
    ['', { root: OLD_ROOT }],
    ['-u', { root: OLD_ROOT }],
    ['-o', { root: OLD_ROOT }],
    ['-s', { root: OLD_ROOT }],
    ['-n', { root: OLD_ROOT }],
    ['', { root: 'root { broken\n' }],
    ['-s', { root: 'root { broken\n' }],
    ['-u', { root: 'root { broken\n' }],
    ['', { root: root('mmv 70:*:*', 'containers', '  x 9:9:9'), root_mmv: root('mmv 70:1:1') }],
    ['-u', { root: root('proc 3:*:*', 'pagebuf 4:1:1', 'keep 9:9:9') }],
    ['-u', { root: root('proc 3:*:*', 'cgroup 3:1:1'), 'pmcd.conf': PMCD_CONF.replace(/^proc.*\n/m, '') }],
    ['', { root: root('keep 9:9:9'), root_mmv: '#define _DATESTAMP 2020\nroot { m 70:1:1\n}\n' }],
    ['', { root: OLD_ROOT, root_mmv: 'root {\n m 70:1:\n}\n' }],
    ['-s', { root: OLD_ROOT, root_mmv: 'root {\n m 70:1:\n}\n' }],
    ['-n', { root: OLD_ROOT, root_mmv: 'root {\n m 70:1:\n}\n' }],
  ] as const)('Rebuild %s %j', async (line, extra) => {
    const files: Files = { ...REBUILD, ...extra }
    const want = theirs(join(SCRIPTS, 'Rebuild'), split(line), files)
    const got = await ours(rebuild, split(line), files)
    const clean = ({ ended, files: left }: Outcome): unknown => ({
      status: ended.status,
      printed: `${ended.stdout}${ended.stderr}`
        .replace(/\.\/pmns_rebuild\.\w+\//g, '')
        .replace('PMNS ... <root >root', 'PMNS ...'),
      root: left['root'],
      prev: left['root.prev'],
      names: Object.keys(left),
    })
    expect(clean(got)).toEqual(clean(want))
  })

  test.each([
    'FOO 400\n',
    'FOO\t510\nBAR 385\nA 509\n',
    '# c\n\n  FOO 400 # x\n',
    'ROOT 1\nX 400\n',
    'X 400\nY 400\n',
  ])('Make.stdpmid with %j', async (local) => {
    const files: Files = {
      'stdpmid.pcp': readFileSync(join(SCRIPTS, 'stdpmid.pcp'), 'utf8'),
      'stdpmid.local': local,
    }
    const defines = ({ files: left }: Outcome): string[] =>
      left['stdpmid']!.split('\n').flatMap(
        (row) => /^#(?:define \S+\s\d+|ifndef.*|endif|define __.*)/.exec(row) ?? [],
      )
    const want = theirs(join(SCRIPTS, 'Make.stdpmid'), [], files)
    const got = await ours(makeStdpmid, [], files)
    expect(defines(got)).toEqual(defines(want))
    const complaints = ({ ended }: Outcome): string[] =>
      `${ended.stdout}${ended.stderr}`.split('\n').filter((row) => !row.includes('Warning'))
    expect(complaints(got)).toEqual(complaints(want))
  })
})
