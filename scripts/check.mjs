/** What to run before every push: format and lint, types, unit tests, build, start-up budget. */

import { join } from 'node:path'
import { install, must, packageBin, top } from './lib/run.mjs'

install()
must(packageBin('biome'), ['check', '--error-on-warnings', '.'])
must(packageBin('tsc'), ['-p', 'tsconfig.json'])
must(packageBin('tsc'), ['-p', 'src/ui'])
must(packageBin('vitest'), ['run', '--project', 'unit'])
must(process.execPath, [join(top, 'scripts', 'build.mjs')])
must(process.execPath, [join(top, 'scripts', 'bench.mjs'), 'start', '--runs', '8'])
