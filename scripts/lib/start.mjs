/** Installs and builds what is needed, then becomes the program: its signals, its output, its exit status. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isBuilt } from './built.mjs'
import { withLock } from './lock.mjs'
import { build, install, top } from './run.mjs'

// Two that install or build at once take each other's files away.
withLock(
  join(top, '.start.lock'),
  () => {
    install()
    if (isBuilt(top)) return
    console.log('Building: some seconds, and only after changes')
    build('--bin')
  },
  (holder) => console.error(`npm start: waiting for process ${holder}, which installs and builds here`),
)
createRequire(import.meta.url)(join(top, 'dist', 'start.cjs'))
