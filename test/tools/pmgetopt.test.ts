import { expect, test } from 'vitest'
import { encodeText } from '../../src/base/text.ts'
import { tool } from '../../src/tools/pmgetopt/index.ts'
import { testIo } from './run-tool.ts'

const CONFIG = `# Usage: [options] node...

Options:
  --archive
  -d, --delay\t       pause between updates
  -i=INST,--insts=INST  comma separated
  -r\t\t       raw
  --width=N\t       set the width
  --only               only long
  --help
# End

  -x is text here
`

async function pmgetopt(args: readonly string[], config = CONFIG) {
  const io = {
    ...testIo('pmgetopt', args),
    stdin: (async function* () {
      yield encodeText(config)
    })(),
  }
  return { status: await tool.run(io).catch((error: Error) => error.message), ...io.printed }
}

// Recorded from PCP 6.0.3.
test.each([
  [['-a', 'b c', '--width', '3', '-dr', 'x', '-r'], "-a 'b c' --width '3' -d -r -- 'x' '-r'"],
  [['--on', '--wid=5', "--insts=it's"], "--only --width '5' -i 'it'\\''s'"],
  [['--', '-a', 'b'], "-- '-a' 'b'"],
  [['-', '-a'], "-- '-' '-a'"],
  [['-q', '--bogus', '-a'], '-? -? -?'],
  [['--only=3', '--width='], "-? --width ''"],
  [['-ifoo', '--he'], "-i 'foo' -?"],
  [[], ''],
])('converts %j to shell words', async (args, words) => {
  expect(await pmgetopt(['--', ...args])).toEqual({ status: 0, stdout: `${words}\n`, stderr: '' })
})

test('takes single letters from a getopts line, with or without a row', async () => {
  const config = '# getopts: ab:\n  -a  aa\n  --bee=B    bb\n  -d dd\n'
  const { stdout } = await pmgetopt(['--', '-a', '-b', 'x', '--bee=3', '-d'], config)
  expect(stdout).toBe("-a -b 'x' --bee '3' -?\n")
})

test('shows the usage text of the script', async () => {
  const { status, stderr } = await pmgetopt(['-u', '-p', 'clusterstat'])
  expect(status).toBe(1)
  expect(stderr).toBe(`Usage: clusterstat [options] node...

Options:
  -a FILE, --archive=FILE
                        read values from a PCP archive
  -d, --delay           pause between updates
  -i INST, --insts=INST comma separated
  -r                    raw
  --width=N             set the width
  --only                only long
  -?, --help            print this text and exit

  -x is text here
`)
})

test('reports invalid lines', async () => {
  expect((await pmgetopt([], '  --nohelp\n')).status).toBe(
    'cannot find PCP option "--nohelp", line 1 ignored',
  )
  expect((await pmgetopt([], '\n  -e, -f  tt\n')).status).toBe(
    'expected long option at "-f  tt", line 2 ignored',
  )
  expect((await pmgetopt([], '# bogus: x\n')).stderr).toBe("pmgetopt: unrecognized command: ' bogus: x'\n")
})
