/** Manifests of transactions over archives. */
import { readManifest } from '../../../src/sys/staging.ts'
import { MemoryDisk } from '../../lib/memory-disk.ts'
import { writeFile } from '../../lib/memory-files.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

const file = '"ino":5,"size":7,"mtimeMs":1000.5'

/** Entry of src/sys/staging.ts. */
export const manifest: FuzzEntry = textEntry({
  seeds: () => [
    `{"version":1,"outputs":[{"to":"a.0","path":".pcp-ts.x/a.0",${file}}],"inputs":[{"path":"b.0",${file}}]}\n`,
    '{"version":2}\n',
  ],
  run(text) {
    const disk = new MemoryDisk()
    disk.mkdir('/s', 0o755)
    writeFile(disk, '/s/commit', new TextEncoder().encode(text))
    readManifest(disk, '/s')
  },
})
