/** Installs and builds if needed, then runs the program in this process. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { alone, buildIfChanged, top } from './run.mjs'

alone('npm start', buildIfChanged)
const program = join(top, 'bin', 'pcp-ts')
process.argv.splice(1, 1, program, 'start')
createRequire(import.meta.url)(program)
