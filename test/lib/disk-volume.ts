/** The content of a simulated disk: files and directories by inode number, and a journal of all changes. */
import { dirname, resolve } from 'node:path'
import { getSystemErrorMap } from 'node:util'

/** Inode number of `/`. */
export const ROOT: number = 1

/** Attributes of a file or directory. */
export interface Attributes {
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly mtimeMs: number
}

/** A file of an image. Images share the bytes, which never change. */
export interface FileImage extends Attributes {
  readonly bytes: Uint8Array
}

/** A directory of an image: inode numbers by name. */
export interface DirectoryImage extends Attributes {
  readonly names: ReadonlyMap<string, number>
}

/** The whole content of a disk at one moment, by inode number. */
export type DiskImage = ReadonlyMap<number, FileImage | DirectoryImage>

/** One change. It refers to inode numbers so that it can be replayed without the earlier name changes. */
export type JournalEntry =
  | ContentEntry
  | { readonly kind: 'attributes'; readonly ino: number; readonly changed: Partial<Attributes> }
  | { readonly kind: 'sync' | 'syncFailed'; readonly ino: number }
  | { readonly kind: 'syncDirectory'; readonly dir: number }
  | NameEntry

/** A change of a file's content, and the modification time it sets. */
export type ContentEntry = { readonly ino: number; readonly mtimeMs: number } & (
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly size: number }
)

/** A change of directory entries. */
export type NameEntry =
  | ({ readonly kind: 'create'; readonly dir: number; readonly name: string; readonly ino: number } & {
      readonly isDirectory: boolean
      readonly attributes: Attributes
    })
  | { readonly kind: 'link' | 'unlink'; readonly dir: number; readonly name: string; readonly ino: number }
  | {
      readonly kind: 'rename'
      readonly ino: number
      readonly dir: number
      readonly name: string
      readonly toDir: number
      readonly toName: string
    }

/** An open or named file. */
export interface FileNode extends FileImage {
  bytes: Uint8Array
  size: number
  mode: number
  uid: number
  gid: number
  mtimeMs: number
  readonly ino: number
  readonly names: undefined
  /** Whether `bytes` belong to an image; they are then copied before a change. */
  isShared: boolean
  links: number
  openings: number
}

/** A directory. */
export interface DirectoryNode extends DirectoryImage {
  names: Map<string, number>
  mode: number
  uid: number
  gid: number
  mtimeMs: number
  readonly ino: number
}

/** Capacity used by each file and directory in addition to its content. */
export const NODE_BYTES: number = 64

/** Files, directories and journal, shared by all processes on a simulated disk. */
export class Volume {
  readonly nodes: Map<number, FileNode | DirectoryNode> = new Map()
  journal: JournalEntry[] = []
  /** Size of the disk in bytes. */
  capacity: number
  used = 0
  readonly nowMs: () => number
  #nextIno = ROOT + 1

  constructor(image: DiskImage | undefined, capacity: number, nowMs: () => number) {
    this.capacity = capacity
    this.nowMs = nowMs
    for (const [ino, node] of image ?? []) {
      this.#nextIno = Math.max(this.#nextIno, ino + 1)
      if ('names' in node && node.names !== undefined)
        this.nodes.set(ino, { ...node, ino, names: new Map(node.names) })
      else this.nodes.set(ino, fileNode(ino, node as FileImage))
    }
    if (!this.nodes.has(ROOT))
      this.nodes.set(ROOT, { ino: ROOT, names: new Map(), mode: 0o755, uid: 0, gid: 0, mtimeMs: nowMs() })
    for (const node of this.nodes.values()) {
      this.used += NODE_BYTES + (isFile(node) ? node.size : 0)
      if (!isFile(node)) for (const ino of node.names.values()) this.#linked(ino, 1)
    }
    for (const node of [...this.nodes.values()]) if (isFile(node)) this.release(node)
  }

  get room(): number {
    return Math.max(0, this.capacity - this.used)
  }

  /** Returns a snapshot of the content. */
  image(): DiskImage {
    const image = new Map<number, FileImage | DirectoryImage>()
    const add = (ino: number): void => {
      if (image.has(ino)) return
      const node = this.nodes.get(ino)!
      const { mode, uid, gid, mtimeMs } = node
      if (isFile(node)) {
        node.isShared = true
        image.set(ino, { bytes: node.bytes.subarray(0, node.size), mode, uid, gid, mtimeMs })
        return
      }
      image.set(ino, { names: new Map(node.names), mode, uid, gid, mtimeMs })
      for (const child of node.names.values()) add(child)
    }
    add(ROOT)
    return image
  }

  /** Returns the node at a path, undefined for a missing one. Throws ENOTDIR for a path through a file. */
  find(path: string, call: Failing): FileNode | DirectoryNode | undefined {
    let node: FileNode | DirectoryNode | undefined = this.nodes.get(ROOT)
    for (const name of resolve('/', path).split('/')) {
      if (name === '') continue
      if (node === undefined) return undefined
      if (isFile(node)) throw call('ENOTDIR')
      const ino = node.names.get(name)
      node = ino === undefined ? undefined : this.nodes.get(ino)!
    }
    return node
  }

  /** Returns the directory above a path. Throws ENOENT and ENOTDIR. */
  parent(path: string, call: Failing): DirectoryNode {
    const node = this.find(dirname(resolve('/', path)), call)
    if (node === undefined) throw call('ENOENT')
    if (isFile(node)) throw call('ENOTDIR')
    return node
  }

  /** Adds an empty file or directory. */
  create(dir: DirectoryNode, name: string, mode: number, isDirectory: boolean): FileNode | DirectoryNode {
    const ino = this.#nextIno++
    const attributes = { mode, uid: 0, gid: 0, mtimeMs: this.nowMs() }
    const node = isDirectory
      ? { ino, names: new Map<string, number>(), ...attributes }
      : fileNode(ino, { bytes: new Uint8Array(0), ...attributes })
    this.nodes.set(ino, node)
    this.used += NODE_BYTES
    this.#name(dir, name, ino)
    this.journal.push({ kind: 'create', dir: dir.ino, name, ino, isDirectory, attributes })
    return node
  }

  link(dir: DirectoryNode, name: string, ino: number): void {
    this.#name(dir, name, ino)
    this.journal.push({ kind: 'link', dir: dir.ino, name, ino })
  }

  /** Removes a name; a closed file without names is freed. */
  unlink(dir: DirectoryNode, name: string): void {
    const ino = dir.names.get(name)!
    this.#unname(dir, name)
    this.journal.push({ kind: 'unlink', dir: dir.ino, name, ino })
  }

  rename(dir: DirectoryNode, name: string, toDir: DirectoryNode, toName: string): void {
    const ino = dir.names.get(name)!
    if (toDir.names.has(toName)) this.#unname(toDir, toName)
    this.#name(toDir, toName, ino)
    this.#unname(dir, name)
    this.journal.push({ kind: 'rename', ino, dir: dir.ino, name, toDir: toDir.ino, toName })
  }

  write(node: FileNode, offset: number, bytes: Uint8Array): void {
    const size = Math.max(node.size, offset + bytes.length)
    this.#reserve(node, size)
    node.bytes.set(bytes, offset)
    this.#resized(node, size)
    const { ino, mtimeMs } = node
    this.journal.push({ kind: 'write', ino, mtimeMs, offset, bytes: bytes.slice() })
  }

  truncate(node: FileNode, size: number): void {
    this.#reserve(node, Math.max(size, node.size))
    node.bytes.fill(0, size)
    this.#resized(node, size)
    const { ino, mtimeMs } = node
    this.journal.push({ kind: 'truncate', ino, mtimeMs, size })
  }

  setAttributes(node: FileNode | DirectoryNode, changed: Partial<Attributes>): void {
    Object.assign(node, changed)
    this.journal.push({ kind: 'attributes', ino: node.ino, changed })
  }

  /** Frees a file that has neither a name nor a descriptor. */
  release(node: FileNode): void {
    if (node.links > 0 || node.openings > 0 || !this.nodes.delete(node.ino)) return
    this.used -= NODE_BYTES + node.size
  }

  #name(dir: DirectoryNode, name: string, ino: number): void {
    dir.names.set(name, ino)
    dir.mtimeMs = this.nowMs()
    this.#linked(ino, 1)
  }

  #unname(dir: DirectoryNode, name: string): void {
    const ino = dir.names.get(name)!
    dir.names.delete(name)
    dir.mtimeMs = this.nowMs()
    this.#linked(ino, -1)
  }

  #linked(ino: number, by: number): void {
    const node = this.nodes.get(ino)!
    if (isFile(node)) {
      node.links += by
      if (by < 0) this.release(node)
    } else if (by < 0 && ![...this.nodes.values()].some((each) => !isFile(each) && has(each, ino))) {
      this.nodes.delete(ino)
      this.used -= NODE_BYTES
    }
  }

  #reserve(node: FileNode, size: number): void {
    if (!node.isShared && size <= node.bytes.length) return
    const larger = new Uint8Array(Math.max(size, size > node.size ? 2 * node.size : size, 256))
    larger.set(node.bytes.subarray(0, node.size))
    node.bytes = larger
    node.isShared = false
  }

  #resized(node: FileNode, size: number): void {
    this.used += size - node.size
    node.size = size
    node.mtimeMs = this.nowMs()
  }
}

/** Creates the error of a failing call. */
export type Failing = (code: string) => NodeJS.ErrnoException

/** Creates Node's error for a failed system call, with its message and properties. */
export function systemError(
  code: string,
  syscall: string,
  path?: string,
  dest?: string,
): NodeJS.ErrnoException {
  const [errno, text] = ERRORS.get(code) ?? [-5, 'unknown error']
  const subject = path === undefined ? '' : ` '${path}'${dest === undefined ? '' : ` -> '${dest}'`}`
  const error: NodeJS.ErrnoException = new Error(`${code}: ${text}, ${syscall}${subject}`)
  Object.assign(error, { errno, code, syscall })
  if (path !== undefined) error.path = path
  if (dest !== undefined) Object.assign(error, { dest })
  return error
}

const ERRORS: ReadonlyMap<string, readonly [number, string]> = new Map(
  [...getSystemErrorMap()].map(([errno, [code, text]]) => [code, [errno, text]]),
)

/** Distinguishes files from directories. */
export function isFile(node: FileNode | DirectoryNode): node is FileNode {
  return node.names === undefined
}

function has(dir: DirectoryNode, ino: number): boolean {
  for (const each of dir.names.values()) if (each === ino) return true
  return false
}

function fileNode(ino: number, { bytes, mode, uid, gid, mtimeMs }: FileImage): FileNode {
  const state = { size: bytes.length, isShared: true, links: 0, openings: 0, names: undefined }
  return { ino, bytes, mode, uid, gid, mtimeMs, ...state }
}
