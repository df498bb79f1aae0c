/** Installs and builds what is needed, then becomes the program: its signals, its output, its exit status. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, install, top } from './run.mjs'

install()
build('--bin')
createRequire(import.meta.url)(join(top, 'dist', 'start.cjs'))
