/** Copies of files for a transaction. */
import { lchownSync, type Stats, statSync } from 'node:fs'
import { chmod, copyFile, open, utimes } from 'node:fs/promises'

/** Bytes compared at a time. */
const BLOCK = 1 << 20

/** Copies a file with its mode and, for root, its owner; its times are new. Rejects with Node's error. */
export async function copyWithAttributes(from: string, to: string): Promise<void> {
  const { mode, uid, gid } = statSync(from)
  await copyFile(from, to)
  if (process.geteuid?.() === 0) lchownSync(to, uid, gid)
  await chmod(to, mode & 0o777)
}

/** Sets the age, mode and, for root, the owner of a file to those of its predecessor. */
export async function copyAttributes(path: string, { atime, mtime, mode, uid, gid }: Stats): Promise<void> {
  if (process.geteuid?.() === 0) lchownSync(path, uid, gid)
  await chmod(path, mode & 0o777)
  await utimes(path, atime, mtime)
}

/** Compares two files block by block, because volumes may exceed memory. Rejects with Node's error. */
export async function haveSameContent(from: string, to: string): Promise<boolean> {
  const files = [await open(from), await open(to)] as const
  const [a, b] = [Buffer.alloc(BLOCK), Buffer.alloc(BLOCK)]
  try {
    for (;;) {
      const [{ bytesRead }, other] = [await files[0].read(a, 0, BLOCK), await files[1].read(b, 0, BLOCK)]
      if (bytesRead !== other.bytesRead || !a.subarray(0, bytesRead).equals(b.subarray(0, bytesRead)))
        return false
      if (bytesRead === 0) return true
    }
  } finally {
    for (const file of files) await file.close()
  }
}
