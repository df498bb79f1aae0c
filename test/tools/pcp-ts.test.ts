import { expect, test } from 'vitest'
import { fishCompletion } from '../../src/tools/lib/fish-completion.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool } from '../../src/tools/pcp-ts.ts'
import { tool as pmerr } from '../../src/tools/pmerr.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { testIo } from './run-tool.ts'

async function run(...args: readonly string[]) {
  // Loading all would take longer than a test may.
  const some = ['Make.stdpmid', 'pcp-ts', 'pmdate', 'pmerr', 'pmhostname', 'pmval']
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

test('offers names near to one that nobody has', async () => {
  expect((await run('pmer')).status).toBe(
    'There is no command "pmer". Did you mean pmerr? pcp-ts alone lists all.',
  )
  expect((await run('val')).status).toMatch(/Did you mean pmval\?/)
  expect((await run('nothing-like-it')).status).toBe(
    'There is no command "nothing-like-it". pcp-ts alone lists all.',
  )
})

test('lists commands with what they are for, but not those of scripts', async () => {
  const { status, stdout } = await run()
  expect(status).toBe(0)
  expect(stdout).toMatch(new RegExp(`^  pmerr +${pmerr.summary}$`, 'm'))
  expect(stdout).not.toMatch(/Make.stdpmid|^ {2}pcp-ts /m)
})

test('fish knows options, their arguments, and the command that runs others', () => {
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
