import { expect, test } from 'vitest'
import { fishCompletion } from '../../../src/tools/lib/fish-completion.ts'
import type { Tool } from '../../../src/tools/lib/tool.ts'
import { tool } from '../../../src/tools/pcp-ts/index.ts'
import { tool as link } from '../../../src/tools/pcp-ts/link/index.ts'
import { TOOLS } from '../../../src/tools/registry.ts'
import { testIo } from '../run-tool.ts'

async function run(...args: readonly string[]) {
  // Loading all would take longer than the test's time limit.
  const some = [
    'Make.stdpmid',
    'pcp-ts',
    'pcp-ts-help',
    'pcp-ts-link',
    'pcp-ts-man',
    'pmdate',
    'pmerr',
    'pmhostname',
    'pmval',
  ]
  const commands = async () => TOOLS.filter(({ name }) => some.includes(name))
  const io = { ...testIo('pcp-ts', args), commands }
  const status = await tool.run(io).catch((error: Error) => error.message)
  return { status, ...io.printed }
}

test('runs a command by its name', async () => {
  expect(await run('pmerr', '-12357')).toEqual({
    status: 0,
    stdout: 'Code: -12357 0xffffcfbb Text: Unknown metric name\n',
    stderr: '',
  })
  expect((await run('pmerr', '--version')).stderr).toMatch(/^pmerr version /)
})

test('suggests names similar to an unknown one', async () => {
  expect((await run('pmer')).status).toBe(
    'Unknown command "pmer". Did you mean pmerr? Run pcp-ts without arguments to list all commands.',
  )
  expect((await run('val')).status).toMatch(/Did you mean pmval\?/)
  expect((await run('nothing-like-it')).status).toBe(
    'Unknown command "nothing-like-it". Run pcp-ts without arguments to list all commands.',
  )
})

test('lists its own commands with summaries, then those of PCP in groups, except those for scripts', async () => {
  const { status, stdout } = await run()
  expect(status).toBe(0)
  expect(stdout).toContain(`
To begin:
  link  ${link.summary}
  man   `)
  expect(stdout).toMatch(/^ {2}Scripts and configuration:\n {4}pmdate pmerr pmhostname\n/m)
  expect(stdout).toMatch(/^ {2}Agents:\n {4}pmdajbd2 pmdakvm/m)
  expect(stdout).not.toMatch(/Make.stdpmid|^ +pcp-ts /m)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('help shows the options of a command, and the list without a name', async () => {
  expect((await run('help', 'link')).stdout).toMatch(/^Usage: pcp-ts link \[options\]/)
  expect(await run('help', 'link')).toEqual(await run('link', '--help'))
  expect((await run('help')).stdout).toBe((await run()).stdout)
})

test('man without man(1) formats the page as text', async () => {
  const { status, stdout } = await run('man', '--plain', 'link')
  expect(status).toBe(0)
  expect(stdout).toMatch(
    /^NAME\n {7}pcp-ts-link - put the names of commands into a directory\n\nSYNOPSIS\n {7}pcp-ts link \[/,
  )
  expect(stdout).toMatch(/\nOPTIONS\n {7}-f, --force\n {14}replace links to another installation/)
  expect(stdout).not.toContain('\\')
  expect((await run('man', 'pmdalinux')).stderr).toMatch(/has no page of its own; pcp-ts pmdalinux --help/)
  expect((await run('man', 'lnik')).stderr).toMatch(/Did you mean link\?/)
})

test('fish completes options, arguments, and the command that runs others', () => {
  const some: Tool = {
    name: 'some',
    summary: "does a host's work",
    options: {
      synopsis: '[options] metric ...',
      rows: [
        { short: 'h', long: 'host', arg: 'HOST', help: 'ask HOST' },
        { long: 'plain', help: 'nothing else' },
        { short: '?', long: 'help', help: 'print this text and exit' },
      ],
    },
    run: async () => 0,
  }
  const lines = fishCompletion([some, { ...tool }], 'pcp-ts').split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      "complete -c some -f -a '(__pcp_metrics)'",
      "complete -c some -s 'h' -l host -r -f -a '(__fish_print_hostnames) local: localhost' -d 'ask HOST'",
      "complete -c some -l plain -d 'nothing else'",
      "complete -c pcp-ts -n __fish_use_subcommand -f -a some -d 'does a host\\'s work'",
    ]),
  )
})
