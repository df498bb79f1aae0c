/** Declarations for the part of js-lzma that is used; the package has none. */
declare module 'js-lzma' {
  interface ByteReader {
    readByte(): number
  }
  const lzma: {
    /** Throws strings. */
    decompress(
      properties: ByteReader & { readonly size: number },
      input: ByteReader,
      output: { writeByte(byte: number): void },
      length: number,
    ): void
  }
  export default lzma
}
