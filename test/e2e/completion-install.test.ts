/** pcp-ts completion in a home directory, and how bash finds it beside an installed PCP's. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BIN = resolve('bin')
const DIRS = {
  bash: '.local/share/bash-completion/completions',
  zsh: '.local/share/zsh/site-functions',
  fish: '.config/fish/completions',
}

let home: string
/** The PATH's first directory: node, pcp-ts, and what a test puts there. */
let path: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pcp-ts-completion-home-'))
  path = join(home, 'bin')
  mkdirSync(path)
  symlinkSync(process.execPath, join(path, 'node'))
  symlinkSync(join(BIN, 'pcp-ts'), join(path, 'pcp-ts'))
})
afterEach(() => rmSync(home, { recursive: true }))

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: home,
    env: { HOME: home, PATH: `${path}:/usr/bin:/bin`, TERM: 'dumb', ...env },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
const completion = (...args: string[]) => run(join(path, 'pcp-ts'), ['completion', ...args])

test.each(['bash', 'zsh', 'fish'] as const)('%s: installed, and removed without a trace', (shell) => {
  const dir = join(home, DIRS[shell])
  expect(completion(shell, '--install')).toMatchObject({ status: 0, stderr: '' })
  const names = readdirSync(dir)
  expect(names.some((name) => name.includes('pcp-ts'))).toBe(true)
  expect(completion(shell, '--install').status).toBe(0)
  expect(readdirSync(dir)).toEqual(names)
  expect(completion(shell, '--uninstall').stdout).toBe(
    `Removed ${names.length === 1 ? '1 file' : `${names.length} files`} from ${dir}\n`,
  )
  expect(readdirSync(dir)).toEqual([])
})

test('prints what it would install, and names the shells', () => {
  for (const [shell, file] of [
    ['bash', 'bash/pcp-ts'],
    ['zsh', 'zsh/_pcp-ts'],
    ['fish', 'fish/pcp-ts.fish'],
  ] as const)
    expect(completion(shell).stdout).toBe(readFileSync(join('dist/completion', file), 'utf8'))
  expect(completion('csh')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/Name a shell: bash, zsh, fish/),
  })
})

test('files of others are kept', () => {
  const dir = join(home, DIRS.bash)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'pminfo'), 'echo mine\n')
  symlinkSync('/nowhere', join(dir, 'pmval'))
  const installed = completion('bash', '--install')
  expect(installed.status).toBe(1)
  expect(installed.stderr).toBe(
    `pcp-ts completion: ${dir}/pminfo is not of this package: kept\npcp-ts completion: ${dir}/pmval is not of this package: kept\n`,
  )
  expect(completion('bash', '--uninstall').status).toBe(0)
  expect(readdirSync(dir).sort()).toEqual(['pminfo', 'pmval'])
  expect(readFileSync(join(dir, 'pminfo'), 'utf8')).toBe('echo mine\n')
})

/** Loads the file of a command as bash-completion does: from the first directory where it succeeds. Returns the function that completes. */
const LOAD = `load() {
  local dir
  for dir in "$HOME/${DIRS.bash}" "$HOME/system"; do
    [[ -f $dir/$1 ]] && . "$dir/$1" && break
  done
  complete -p "$1" 2>/dev/null || echo none
}
for name; do load "$name"; done`

test('in bash pcp-ts and linked names complete; names of an installed PCP keep their completion', () => {
  completion('bash', '--install')
  mkdirSync(join(home, 'system'))
  for (const name of ['pminfo', 'pmval'])
    writeFileSync(join(home, 'system', name), `complete -F _of_system ${name}\n`)
  // pmval is linked; pminfo is another program that comes first on the PATH.
  symlinkSync(join(BIN, 'pmval'), join(path, 'pmval'))
  writeFileSync(join(path, 'pminfo'), '#!/bin/sh\n')
  chmodSync(join(path, 'pminfo'), 0o755)
  expect(
    run('bash', ['--norc', '-c', LOAD, 'bash', 'pminfo', 'pmval', 'pcp-ts', 'pmrep']).stdout.split('\n'),
  ).toEqual([
    'complete -F _of_system pminfo',
    'complete -F _pcp pmval',
    'complete -F _pcp pcp-ts',
    'none',
    '',
  ])
})

test('in bash subcommands complete with their options', () => {
  const script = `. <(pcp-ts completion bash); complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pcp; echo "\${COMPREPLY[*]}"; }
    complete_words pcp-ts unl
    complete_words pcp-ts link --f
    complete_words pcp-ts man pmin
    complete_words pcp-ts pminfo --fetcha`
  expect(run('bash', ['--norc', '-c', script])).toEqual({
    status: 0,
    stdout: 'unlink\n--force\npminfo\n--fetchall\n',
    stderr: '',
  })
})

test('the files say nothing after the package was removed', () => {
  completion('bash', '--install')
  rmSync(join(path, 'pcp-ts'))
  expect(run('bash', ['--norc', '-c', LOAD, 'bash', 'pcp-ts', 'pminfo'])).toEqual({
    status: 0,
    stdout: 'none\nnone\n',
    stderr: '',
  })
})
