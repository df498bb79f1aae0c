/** Removing archives. */
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type Disk, nodeDisk } from '../sys/disk.ts'
import type { ArchiveFile } from './files.ts'

/**
 * Removes the files of one archive: its metadata durably first, because without it there is no archive, whatever happens then. What a crash
 * leaves is files of the same name, which go with the next call. Throws PcpError with the errno.
 */
export function removeArchive(
  dir: string,
  files: readonly Pick<ArchiveFile, 'name' | 'part'>[],
  disk: Disk = nodeDisk,
): void {
  const meta = files.filter(({ part }) => part === 'meta')
  for (const group of [meta, files.filter((file) => !meta.includes(file))]) {
    for (const { name } of group) unlinkIfPresent(join(dir, name), disk)
    if (group.length > 0) syncDirectory(dir, disk)
  }
}

function syncDirectory(dir: string, disk: Disk): void {
  try {
    disk.syncDirectory(dir)
  } catch (error) {
    throw PcpError.from(error, `Cannot remove files of ${dir}`)
  }
}

function unlinkIfPresent(path: string, disk: Disk): void {
  try {
    disk.unlink(path)
  } catch (error) {
    const { code } = PcpError.from(error)
    if (code !== 'ENOENT') throw PcpError.from(error, `Cannot remove ${path} of ${dirname(path)}`)
  }
}
