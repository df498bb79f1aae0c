/**
 * Kills every command that changes archives 1,000 times at random times and checks that no record is lost: `npm run kills --
 * [--kills N] [--command NAME] [--seed N]`. Takes hours for all commands; test/e2e/kills.test.ts is a short run.
 */
import { parseArgs } from 'node:util'
import { cleanEnv, install, packageBin, run } from './lib/run.mjs'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    command: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
for (const name of ['kills', 'seed'])
  if (!/^\d+$/.test(values[name])) {
    console.error(`kills: --${name} must be a number`)
    process.exit(1)
  }
const COMMANDS = [
  ...[
    'pmlogger_daily',
    'pmlogger_merge',
    'pmlogger_rewrite',
    'compress',
    'cull',
    'pmlogextract',
    'pmlogreduce',
  ],
  ...['pmlogrewrite', 'pmloglabel', 'pmlogmv', 'pmlogcp', 'retention', 'pmlogger', 'push'],
]
if (values.command !== undefined && !COMMANDS.includes(values.command)) {
  console.error(`kills: unknown command ${values.command}; commands are ${COMMANDS.join(', ')}`)
  process.exit(1)
}
install()
const only = values.command === undefined ? [] : ['-t', `^${values.command}:`]
const env = cleanEnv({ PCP_TS_KILLS: values.kills, PCP_TS_SEED: values.seed })
process.exit(
  run(packageBin('vitest'), ['run', '--project', 'e2e', 'test/e2e/kills.test.ts', ...only], { env }),
)
