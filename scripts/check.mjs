/** Checks to run before every push: format, lint and prose, types, unit tests, build, start-up budget. */

import { join } from 'node:path'
import { install, must, packageBin, top } from './lib/run.mjs'

install()
must(packageBin('biome'), ['check', '--error-on-warnings', '.'])
must(process.execPath, [join(top, 'scripts', 'prose.mjs')])
must(packageBin('tsc'), ['-p', 'tsconfig.json'])
must(packageBin('tsc'), ['-p', 'src/ui'])
must(packageBin('vitest'), ['run', '--project', 'unit'])
must(process.execPath, [join(top, 'scripts', 'build.mjs')])
must(process.execPath, [join(top, 'scripts', 'bench.mjs'), 'start', '--runs', '8'])
