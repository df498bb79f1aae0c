/** Files of an archive that is written in small steps; open files stay readable when they are removed, as on disk. */

import type { OutputFiles } from '../../../src/archive/write/output-files.ts'
import type { ArchiveFiles, ByteSource } from '../../../src/base/byte-source.ts'

/** One write of an archive writer. */
interface Write {
  readonly part: string
  readonly bytes: Uint8Array
}

/** Records what a writer writes. */
export function recordedOutput(name: string): OutputFiles & { readonly writes: Write[] } {
  const writes: Write[] = []
  return {
    name,
    writes,
    create(part) {
      let size = 0
      writes.push({ part, bytes: new Uint8Array(0) })
      return {
        get size() {
          return size
        },
        write(bytes) {
          writes.push({ part, bytes: bytes.slice() })
          size += bytes.length
        },
        flush() {},
        close() {},
      }
    },
    remove() {},
  }
}

/** A directory whose files grow. */
export class GrowingFiles implements ArchiveFiles {
  readonly names: Map<string, { bytes: Uint8Array }> = new Map()
  open = (path: string): ByteSource => {
    const file = this.names.get(path)
    if (file === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
    this.opened++
    let isOpen = true
    return {
      bytes: undefined,
      get size() {
        return file.bytes.length
      },
      readInto: (target, offset) => {
        const part = file.bytes.subarray(offset, offset + target.length)
        target.set(part)
        this.bytesRead += part.length
        return part.length
      },
      close: () => {
        if (isOpen) this.opened--
        isOpen = false
      },
    }
  }
  /** Open files. */
  opened = 0
  bytesRead = 0

  append(path: string, bytes: Uint8Array): void {
    const file = this.names.get(path)
    if (file === undefined) this.names.set(path, { bytes: bytes.slice() })
    else {
      const longer = new Uint8Array(file.bytes.length + bytes.length)
      longer.set(file.bytes)
      longer.set(bytes, file.bytes.length)
      file.bytes = longer
    }
  }

  rename(from: string, to: string): void {
    this.names.set(to, this.names.get(from)!)
    this.names.delete(from)
  }

  isDirectory(): boolean {
    return false
  }

  list(directory: string): readonly string[] {
    const prefix = directory === '.' ? '' : `${directory}/`
    return [...this.names.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
  }
}
