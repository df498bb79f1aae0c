/** Installs and builds what is needed, then becomes the program: its signals, its output, its exit status. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { alone, buildIfChanged, top } from './run.mjs'

alone('npm start', buildIfChanged)
createRequire(import.meta.url)(join(top, 'bin', 'parts', 'start.cjs'))
